/** What is asked: title, who is asked, until when, and what to look at before deciding. */

import type { ReactNode } from "react";
import type { Approval } from "../../api/types";
import { Json } from "../../components/Json";
import { Ago } from "../../components/Time";
import { Link } from "../../shell/router";
import { Deadline } from "./Deadline";

interface Props {
  approval: Approval;
  /** People without an account can't open the run. */
  linked?: boolean;
  actions?: ReactNode;
}

export function ApprovalDetail({ approval, linked = true, actions }: Props) {
  const { title, by, run_id, node, asked_at, deadline, evidence } = approval;
  return (
    <div className="stack">
      <header className="question-head">
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
          <dd>{by || "anyone with the approver role"}</dd>
        </div>
        {deadline !== undefined && (
          <div>
            <dt>Deadline</dt>
            <dd>
              <Deadline at={deadline} />
            </dd>
          </div>
        )}
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
      </section>
    </div>
  );
}
