/** One tool call of a turn: what was asked, what came back, and what it waits for. */

import type { AgentToolCall } from "../../../api/schema";
import { CodeText } from "../../../components/CodeText";
import { span } from "../../../components/format";
import { Icon } from "../../../components/Icon";
import { Json } from "../../../components/Json";
import { StatusIcon } from "../../../components/Status";
import { Link } from "../../../shell/router";
import { callStatus } from "./reply";

export function ToolCall({ call }: { call: AgentToolCall }) {
  const { status, word } = callStatus(call);
  return (
    <li className={`agent-call ${call.status}`}>
      <div className="row wrap">
        <span aria-hidden="true" className="row">
          <StatusIcon status={status} />
        </span>
        <code className="agent-tool">{call.tool}</code>
        <span className={`st-${status} agent-word`}>{word}</span>
        {call.at !== undefined && <span className="faint">{span(call.ms ?? 0)}</span>}
        <Waits call={call} />
      </div>
      <div className="agent-values">
        <Value title="Arguments" value={call.arguments} tool={call.tool} />
        {call.error ? (
          <div className="stack tight">
            <h4>{call.status === "denied" ? "Why it was denied" : "Error"}</h4>
            <p className="agent-error">
              <CodeText text={call.error} />
            </p>
          </div>
        ) : (
          <Value title="Result" value={call.at === undefined ? undefined : call.result} tool={call.tool} />
        )}
      </div>
      {call.answer !== undefined && call.waits_for === "approval" && (
        <Value title="Decision" value={call.answer} tool={call.tool} />
      )}
    </li>
  );
}

/** An approval or a run of its own, where the call needs one. */
function Waits({ call: { status, approval_id, child_run_id } }: { call: AgentToolCall }) {
  return (
    <>
      {approval_id && (
        <Link className="text" to={`/approvals/${encodeURIComponent(approval_id)}`}>
          {status === "waiting" ? "Waits for an approval: decide" : "Approval"}
        </Link>
      )}
      {child_run_id && (
        <Link className="chip" to={`/runs/${encodeURIComponent(child_run_id)}`}>
          <Icon name="child" size={12} />
          child run
        </Link>
      )}
    </>
  );
}

function Value({ title, value, tool }: { title: string; value: unknown; tool: string }) {
  if (value === undefined) return null;
  return (
    <div className="stack tight">
      <h4>{title}</h4>
      <Json value={value} label={`${title.toLowerCase()} of ${tool}`} />
    </div>
  );
}
