/** Why the run failed: the one sentence to read first, where to look, and what to do. */

import type { RunDetail } from "../../api/types";
import { ErrorBox } from "../../components/ErrorBox";
import { shortId } from "../../components/format";
import { Icon } from "../../components/Icon";
import { StatusIcon } from "../../components/Status";
import { Link } from "../../shell/router";
import type { Asked } from "./actions/requests";

const FEW = 4;

interface RootCauseProps {
  /** As it is shown, now or at an earlier event. */
  detail: RunDetail;
  /** What can be done now. */
  actions: RunDetail["actions"];
  onNode: (id: string) => void;
  onAction: (asked: Asked) => void;
}

export function RootCause({ detail, actions, onNode, onAction }: RootCauseProps) {
  const { run, view } = detail;
  const { cause } = view;
  if (view.status !== "failed" || !cause) return null;
  const { node, label } = cause;
  const known = node !== undefined && view.nodes.some(({ id }) => id === node);
  return (
    <section className="cause" aria-label="Why it failed">
      <StatusIcon status="failed" size={16} />
      <div className="grow stack tight">
        <h2 className="cause-text">
          {label ? <strong>{label}</strong> : "The run"} failed
          {(cause.attempts ?? 0) > 1 && ` after ${cause.attempts} attempts`}: {cause.message}
        </h2>
        <div className="cause-links">
          {known && (
            <button type="button" className="cause-link" onClick={() => onNode(node)}>
              <Icon name="goal" size={14} />
              Show the node
            </button>
          )}
          {known && !cause.run && (
            <Link className="cause-link" to={`${pathOf(run.id)}?tab=logs&node=${encodeURIComponent(node)}`}>
              <Icon name="runs" size={14} />
              Log
            </Link>
          )}
          {cause.run && <InChild run={cause.run} node={cause.run_node} />}
          {actions.includes("retry") && (
            <button type="button" className="cause-link" onClick={() => onAction({ action: "retry" })}>
              <Icon name="retry" size={14} />
              Try again
            </button>
          )}
        </div>
        <NotCompensated detail={detail} onNode={onNode} />
        {run.error && (
          <details className="cause-more">
            <summary>
              Error <code>{run.error.code}</code>
            </summary>
            <ErrorBox error={run.error} />
          </details>
        )}
      </div>
    </section>
  );
}

/** What could not be compensated: a second thing that went wrong, and that somebody has to see to. */
function NotCompensated({ detail: { run, view }, onNode }: Pick<RootCauseProps, "detail" | "onNode">) {
  const failed = view.nodes.filter(({ kind, status }) => kind === "rollback" && status === "failed");
  if (failed.length === 0) return null;
  return (
    <ul className="cause-undone">
      {failed.slice(0, FEW).map(({ id, label, error }) => (
        <li key={id}>
          <button type="button" className="cause-link" onClick={() => onNode(id)}>
            {label.replaceAll("`", "")}
          </button>{" "}
          failed{error && `: ${error.message}`}
        </li>
      ))}
      {failed.length > FEW && <li>and {failed.length - FEW} more</li>}
      <li>
        <Link className="cause-link" to={`/dlq?run=${encodeURIComponent(run.id)}`}>
          <Icon name="letters" size={14} />
          Retry or discard
        </Link>
      </li>
    </ul>
  );
}

function InChild({ run, node }: { run: string; node: string | undefined }) {
  const query = node === undefined ? "" : `?node=${encodeURIComponent(node)}`;
  return (
    <>
      <Link className="cause-link" to={`${pathOf(run)}${query}`} title={run}>
        <Icon name="child" size={14} />
        Open child run {shortId(run)}
      </Link>
      {node !== undefined && (
        <Link className="cause-link" to={`${pathOf(run)}?tab=logs&node=${encodeURIComponent(node)}`}>
          <Icon name="runs" size={14} />
          Log
        </Link>
      )}
    </>
  );
}

function pathOf(run: string): string {
  return `/runs/${encodeURIComponent(run)}`;
}
