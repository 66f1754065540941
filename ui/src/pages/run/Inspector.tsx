/** All about one node: what went in, what came out, what went wrong, and what can be done from here. */

import type { Node, RunDetail } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { ErrorBox } from "../../components/ErrorBox";
import { absolute, span } from "../../components/format";
import { Icon } from "../../components/Icon";
import { Json } from "../../components/Json";
import { Status } from "../../components/Status";
import { Ago, Duration } from "../../components/Time";
import { useKey } from "../../shell/keys";
import { Link } from "../../shell/router";
import { canFork } from "./actions/ForkForm";
import type { Asked } from "./actions/requests";
import { idleOf } from "./active-time";
import { LogLines, useLogs } from "./Logs";

interface InspectorProps {
  node: Node;
  detail: RunDetail;
  past: number | undefined;
  onAction: (asked: Asked) => void;
  onClose: () => void;
}

export function Inspector({ node, detail, past, onAction, onClose }: InspectorProps) {
  useKey("Escape", onClose, { label: "Close the node", group: "Run" });
  return (
    <aside className="inspector" aria-label={`Node ${node.label}`}>
      <header className="inspector-head">
        <div className="grow">
          <h2 className="clip">{node.label}</h2>
          <code className="faint clip inspector-id" title={node.id}>
            {node.path || node.id}
          </code>
        </div>
        <IconButton icon="close" label="Close the node" onClick={onClose} />
      </header>
      <div className="inspector-body">
        <Facts node={node} idle={idleOf(node, detail.view.pauses)} />
        <NodeActions node={node} detail={detail} past={past} onAction={onAction} />
        {node.error && (
          <ErrorBox error={node.error} title={node.status === "completed" ? "An earlier attempt failed" : undefined} />
        )}
        <Value title="Input" value={node.input} />
        <Value title="Output" value={node.output} />
        <NodeLogs node={node} detail={detail} />
      </div>
    </aside>
  );
}

function Facts({ node, idle }: { node: Node; idle: number }) {
  return (
    <dl className="facts">
      <dt>Status</dt>
      <dd>
        <Status status={node.status} />
        {node.skip_reason && <span className="muted"> {node.skip_reason}</span>}
      </dd>
      <dt>Kind</dt>
      <dd>{node.kind}</dd>
      {(node.attempts ?? 0) > 0 && (
        <>
          <dt>Attempts</dt>
          <dd>{node.attempts}</dd>
        </>
      )}
      {node.started_at !== undefined && (
        <>
          <dt>Started</dt>
          <dd title={absolute(node.started_at)}>
            <Ago at={node.started_at} />
          </dd>
          <dt>{node.ended_at === undefined ? "Running for" : "Duration"}</dt>
          <dd>
            <Duration from={node.started_at} to={node.ended_at} idle={idle} />
          </dd>
        </>
      )}
      {(node.queued ?? 0) > 0 && (
        <>
          <dt>Queued</dt>
          <dd title="How long the last attempt waited for a worker">{span(node.queued ?? 0)}</dd>
        </>
      )}
      {node.detail && (
        <>
          <dt>Detail</dt>
          <dd>{node.detail}</dd>
        </>
      )}
      {node.child && (
        <>
          <dt>Child run</dt>
          <dd>
            <Link to={`/runs/${encodeURIComponent(node.child)}`}>
              <Icon name="child" size={12} /> {node.child}
            </Link>
          </dd>
        </>
      )}
    </dl>
  );
}

function NodeActions({ node, detail, past, onAction }: Omit<InspectorProps, "onClose">) {
  const { actions } = detail;
  const done = node.status === "completed";
  return (
    <div className="row wrap">
      {actions.includes("fork") && canFork(node) && (
        <Button
          icon="fork"
          className="small"
          onClick={() => onAction({ action: "fork", at: past ?? node.id, node: done ? node : undefined })}
        >
          Fork from here
        </Button>
      )}
      {past === undefined && actions.includes("rewind") && (
        <Button icon="rewind" className="small" onClick={() => onAction({ action: "rewind", node })}>
          Re-run from here
        </Button>
      )}
    </div>
  );
}

function Value({ title, value }: { title: string; value: Node["input"] }) {
  if (value === undefined) return null;
  return (
    <section className="stack tight">
      <h3>{title}</h3>
      <Json value={value} label={`${title.toLowerCase()} of the node`} />
    </section>
  );
}

const FEW = 200;

function NodeLogs({ node, detail }: { node: Node; detail: RunDetail }) {
  const { lines = [], problem } = useLogs(detail.run.id, node.id, detail.run.status === "running", detail.seq);
  if (problem) return <ErrorBox error={problem} title="Could not load the log" />;
  if (lines.length === 0) return null;
  return (
    <section className="stack tight">
      <h3>Log</h3>
      <LogLines lines={lines.slice(-FEW)} withNode={false} follow />
      <Link
        className="text"
        to={`/runs/${encodeURIComponent(detail.run.id)}?tab=logs&node=${encodeURIComponent(node.id)}`}
      >
        All {lines.length} lines
      </Link>
    </section>
  );
}
