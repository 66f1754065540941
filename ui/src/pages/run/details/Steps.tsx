/** The steps of a run that are wired by references: why they were skipped, what they got raw, and each iteration. */

import { useState } from "react";
import type { Json as JsonValue, Node } from "../../../api/types";
import { Json } from "../../../components/Json";
import { Status } from "../../../components/Status";
import { VirtualList } from "../../../components/VirtualList";
import type { StepFacts } from "./details";
import "./details.css";

interface Props {
  steps: { [name: string]: StepFacts };
  nodes: readonly Node[];
  onNode: (id: string) => void;
}

export default function Steps({ steps, nodes, onNode }: Props) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return (
    <ol className="run-steps">
      {Object.entries(steps).map(([name, facts]) => (
        <li key={name} className="card stack tight">
          <header className="row wrap">
            <button type="button" className="why-node" onClick={() => onNode(name)}>
              {name}
            </button>
            <span className="grow" />
            {facts.flags.map((flag) => (
              <span key={flag} className="chip">
                {flag}
              </span>
            ))}
            <NodeStatus node={byId.get(name)} />
          </header>
          <Reasons facts={facts} />
          {facts.iterations && (
            <Iterations
              name={name}
              counts={facts.iterations}
              nodes={nodes.filter(({ parent }) => parent === name)}
              onNode={onNode}
            />
          )}
        </li>
      ))}
    </ol>
  );
}

function NodeStatus({ node }: { node: Node | undefined }) {
  return node ? <Status status={node.status} /> : null;
}

function Reasons({ facts: { condition, value, unresolved, raw } }: { facts: StepFacts }) {
  return (
    <>
      {condition !== undefined && (
        <p>
          Skipped: <code>{JSON.stringify(condition)}</code> was false; the value was{" "}
          <code>{JSON.stringify(value ?? null)}</code>
        </p>
      )}
      {unresolved !== undefined && <p className="muted">Not found: {unresolved.join(", ")}</p>}
      {raw !== undefined && (
        <details>
          <summary>Result before it was transformed</summary>
          <Json value={raw} label="Raw result" />
        </details>
      )}
    </>
  );
}

const ROW = 34;
const MOST_ROWS = 10;

interface IterationsProps {
  name: string;
  counts: NonNullable<StepFacts["iterations"]>;
  nodes: Node[];
  onNode: (id: string) => void;
}

function Iterations({ name, counts, nodes, onNode }: IterationsProps) {
  const [failedOnly, setFailedOnly] = useState(false);
  const shown = failedOnly ? nodes.filter(({ status }) => status === "failed") : nodes;
  const { total, done, failed, running } = counts;
  return (
    <section aria-label={`Iterations of ${name}`}>
      <div className="row wrap">
        <span>
          {done.toLocaleString("en")} of {total.toLocaleString("en")} done
          {failed > 0 && <span className="field-error">, {failed.toLocaleString("en")} failed</span>}
          {running > 0 && `, ${running.toLocaleString("en")} running`}
        </span>
        {failed > 0 && (
          <label className="row">
            <input type="checkbox" checked={failedOnly} onChange={(event) => setFailedOnly(event.target.checked)} />{" "}
            Only failed
          </label>
        )}
        {nodes.length < done + failed + running && (
          <span className="muted">{nodes.length.toLocaleString("en")} are listed; those that failed come first</span>
        )}
      </div>
      <div style={{ height: Math.min(shown.length, MOST_ROWS) * ROW }}>
        <VirtualList
          label={`Each iteration of ${name}`}
          count={shown.length}
          rowHeight={ROW}
          row={(index, style) => {
            const node = shown[index];
            return node ? <Iteration key={node.id} node={node} style={style} onNode={onNode} /> : null;
          }}
        />
      </div>
    </section>
  );
}

interface IterationProps {
  node: Node;
  style: React.CSSProperties;
  onNode: (id: string) => void;
}

function Iteration({ node, style, onNode }: IterationProps) {
  return (
    <div className="iteration" style={style}>
      <button type="button" className="why-node" onClick={() => onNode(node.id)}>
        {node.id}
      </button>
      <Status status={node.status} />
      <code className="clip grow">{node.error ? node.error.message : text(node.output)}</code>
    </div>
  );
}

function text(value: JsonValue | undefined): string {
  return value === undefined ? "" : JSON.stringify(value).slice(0, 300);
}
