/** Each node of both runs in one row; a row opens to what differs inside. */

import { Fragment, useId, useState } from "react";
import type { Node, NodeDiff, Pause } from "../../api/types";
import { Empty } from "../../components/Empty";
import { CheckField } from "../../components/Field";
import { span } from "../../components/format";
import { JsonDiff } from "../../components/JsonDiff";
import { StatusIcon } from "../../components/Status";
import { CHANGE_WORDS, compared, slower, tally, tookOf } from "./labels";

/** When each run stood still, because it had ended before it was tried again. */
interface Pauses {
  a: readonly Pause[] | undefined;
  b: readonly Pause[] | undefined;
}

export function Nodes({ nodes, pauses }: { nodes: NodeDiff[]; pauses: Pauses }) {
  const [all, setAll] = useState(false);
  const shown = all ? nodes : nodes.filter(({ change }) => change !== "same");
  return (
    <section className="stack tight" aria-labelledby="nodes">
      <div className="row wrap">
        <h2 id="nodes">Nodes</h2>
        <span className="muted grow">{tally(nodes)}</span>
        <CheckField label="Show identical nodes" checked={all} onChange={(event) => setAll(event.target.checked)} />
      </div>
      {shown.length === 0 ? (
        <Empty icon="check" title="No differences between nodes">
          Times and IDs are not compared. Show identical nodes to see durations.
        </Empty>
      ) : (
        <NodeTable nodes={shown} pauses={pauses} />
      )}
    </section>
  );
}

function NodeTable({ nodes, pauses }: { nodes: NodeDiff[]; pauses: Pauses }) {
  return (
    <div className="card compare-scroll">
      <table className="table compare-table">
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">A</th>
            <th scope="col">B</th>
            <th scope="col">B took</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <NodeRow key={node.id} node={node} pauses={pauses} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NodeRow({ node, pauses }: { node: NodeDiff; pauses: Pauses }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const { sign, word } = CHANGE_WORDS[node.change];
  const took = { a: tookOf(node.a, pauses.a), b: tookOf(node.b, pauses.b) };
  return (
    <Fragment>
      <tr className={`compare-row ${node.change}`}>
        <td>
          <button
            type="button"
            className="compare-open"
            aria-expanded={open}
            aria-controls={open ? id : undefined}
            onClick={() => setOpen(!open)}
          >
            <span className="compare-sign" aria-hidden="true">
              {sign}
            </span>
            <span className="grow">
              <strong>{pathOf(node)}</strong> <span className="faint">{node.kind}</span>
              <span className="compare-word">{word}</span>
            </span>
          </button>
        </td>
        <td>
          <Side node={node.a} took={took.a} />
        </td>
        <td>
          <Side node={node.b} took={took.b} />
        </td>
        <td className="mono">{slower(took.a, took.b)}</td>
      </tr>
      {open && (
        <tr id={id}>
          <td colSpan={4} className="compare-inside">
            <JsonDiff a={compared(node.a)} b={compared(node.b)} />
          </td>
        </tr>
      )}
    </Fragment>
  );
}

/** The whole path: steps of two loops, or of two iterations, may share a name. */
function pathOf({ id, label, a, b }: NodeDiff): string {
  return (b ?? a)?.path || label || id;
}

function Side({ node, took }: { node: Node | undefined; took: number | undefined }) {
  if (!node) return <span className="faint">missing</span>;
  return (
    <span className="compare-cell">
      <StatusIcon status={node.status} />
      <span>{took === undefined ? <span className="faint">no time</span> : span(took)}</span>
      {(node.attempts ?? 1) > 1 && <span className="muted">{node.attempts} attempts</span>}
    </span>
  );
}
