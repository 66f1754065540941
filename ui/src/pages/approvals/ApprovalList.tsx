import type { Approval } from "../../api/types";
import { Ago } from "../../components/Time";
import { Link } from "../../shell/router";
import { Deadline } from "./Deadline";

export function approvalPath(id: string): string {
  return `/approvals/${encodeURIComponent(id)}`;
}

export function ApprovalList({ approvals, selected }: { approvals: Approval[]; selected: string | undefined }) {
  return (
    <ul className="inbox-list" aria-label="Open approvals">
      {approvals.map((approval) => (
        <li key={approval.id}>
          <Link
            className="inbox-item"
            to={approvalPath(approval.id)}
            aria-current={approval.id === selected ? "true" : undefined}
          >
            <span className="inbox-title">{approval.title}</span>
            <span className="inbox-line faint">
              <span className="mono clip">{approval.run_id}</span>
              <Ago at={approval.asked_at} />
            </span>
            <span className="inbox-line">
              <span className="muted clip">{approval.by ? `for ${approval.by}` : "for anyone"}</span>
              {approval.deadline !== undefined && <Deadline at={approval.deadline} />}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
