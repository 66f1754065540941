/** What is asked: title, who is asked, until when, and what to look at before deciding. */

import type { ReactNode } from "react";
import type { Approval } from "../../api/types";
import { absolute } from "../../components/format";
import { Json } from "../../components/Json";
import { Ago } from "../../components/Time";
import { Link } from "../../shell/router";
import { Deadline } from "./Deadline";
import { Votes } from "./Votes";
import { progress } from "./voting";

/** Who was asked because nobody had decided, or will be. */
function escalation({ escalations = [], level = 0, status, asked_at }: Approval): string | undefined {
  const reached = escalations.slice(0, level).flatMap(({ to }) => to);
  if (reached.length > 0) return `to ${reached.join(", ")}`;
  const next = escalations[level];
  if (status !== "open" || !next) return undefined;
  return `to ${next.to.join(", ")} at ${absolute(asked_at + next.after)}`;
}

interface Props {
  approval: Approval;
  /** People without an account can't open the run. */
  linked?: boolean;
  actions?: ReactNode;
}

export function ApprovalDetail({ approval, linked = true, actions }: Props) {
  const { title, by, run_id, node, asked_at, deadline, evidence, approvers = [], votes = [], status } = approval;
  const { delegations = [], evidence_hash } = approval;
  const escalated = escalation(approval);
  return (
    <div className="stack">
      <header className="approval-head">
        <h2>{title}</h2>
        {actions}
      </header>
      <dl className="facts">
        <div>
          <dt>Requested</dt>
          <dd>
            <Ago at={asked_at} />
          </dd>
        </div>
        <div>
          <dt>Assigned to</dt>
          <dd>{by || approvers.join(", ") || "anyone with the approver role"}</dd>
        </div>
        {progress(approval) && (
          <div>
            <dt>Approved</dt>
            <dd>{progress(approval)}</dd>
          </div>
        )}
        {by && approvers.length > 0 && (
          <div>
            <dt>Approvers</dt>
            <dd>{approvers.join(", ")}</dd>
          </div>
        )}
        {escalated && (
          <div>
            <dt>Escalation</dt>
            <dd>{escalated}</dd>
          </div>
        )}
        {status === "open" && deadline !== undefined && (
          <div>
            <dt>Deadline</dt>
            <dd>
              <Deadline at={deadline} />
            </dd>
          </div>
        )}
        {delegations.map(({ by: from, to, comment }) => (
          <div key={`${from} ${to}`}>
            <dt>Delegated</dt>
            <dd>
              by {from} to {to}
              {comment && <span className="muted">: {comment}</span>}
            </dd>
          </div>
        ))}
        <div>
          <dt>Run</dt>
          <dd className="mono">
            {linked ? (
              <Link to={`/runs/${encodeURIComponent(run_id)}?node=${encodeURIComponent(node)}`}>{run_id}</Link>
            ) : (
              run_id
            )}
          </dd>
        </div>
      </dl>
      <section className="stack tight" aria-label="Evidence">
        <h3>Evidence</h3>
        {evidence === undefined || evidence === null ? (
          <p className="faint">None provided. {linked && "See the run for what happened so far."}</p>
        ) : (
          <Json value={evidence} label="evidence" />
        )}
        {evidence_hash && (
          <p className="faint" title={evidence_hash}>
            The decision is bound to this evidence by its hash <code>{evidence_hash.slice(0, 16)}</code>
          </p>
        )}
      </section>
      <Votes votes={votes} />
    </div>
  );
}
