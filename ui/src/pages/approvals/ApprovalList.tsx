import type { Approval } from "../../api/types";
import { Ago } from "../../components/Time";
import { Link } from "../../shell/router";
import { Deadline } from "./Deadline";
import { outcome, progress } from "./voting";

function Asked({ approval }: { approval: Approval }) {
  const votes = progress(approval);
  return (
    <>
      <span className="muted clip">
        {`for ${approval.by || approval.approvers?.join(", ") || "anyone"}`}
        {votes && ` · ${votes}`}
      </span>
      {approval.deadline !== undefined && <Deadline at={approval.deadline} />}
    </>
  );
}

export function approvalPath(id: string): string {
  return `/approvals/${encodeURIComponent(id)}`;
}

interface Props {
  approvals: Approval[];
  selected: string | undefined;
  /** Of the list. */
  label: string;
  /** Kept in the URL, so that the list stays the same for the next approval. */
  query: string;
}

export function ApprovalList({ approvals, selected, label, query }: Props) {
  return (
    <ul className="inbox-list" aria-label={label}>
      {approvals.map((approval) => (
        <li key={approval.id}>
          <Link
            className="inbox-item"
            to={approvalPath(approval.id) + query}
            aria-current={approval.id === selected ? "true" : undefined}
          >
            <span className="inbox-title">{approval.title}</span>
            <span className="inbox-line faint">
              <span className="mono clip">{approval.run_id}</span>
              <Ago at={approval.asked_at} />
            </span>
            <span className="inbox-line">
              {approval.status === "open" ? <Asked approval={approval} /> : <span>{outcome(approval)}</span>}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
