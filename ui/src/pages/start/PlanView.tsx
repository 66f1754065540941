/** The answer to "would it run?". */

import type { Node, Plan } from "../../api/types";
import { Icon } from "../../parts/Icon";
import { Json } from "../../parts/Json";
import "../definitions/loaded.css";

export function PlanView({ plan }: { plan: Plan }) {
  const nodes = plan.view?.nodes ?? [];
  const notes = plan.notes ?? [];
  return (
    <section className="card pad stack start-plan" aria-label="Check" role="status">
      <h2 className="row">
        <span className="loaded">
          <Icon name="check" />
        </span>
        It can be started
      </h2>
      <dl className="facts">
        <div>
          <dt>Definition</dt>
          <dd>{plan.definition}</dd>
        </div>
        {plan.version && (
          <div>
            <dt>Version</dt>
            <dd className="mono">{plan.version.slice(0, 16)}</dd>
          </div>
        )}
      </dl>
      {notes.length > 0 && (
        <ul className="start-notes">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {nodes.length > 0 && <Steps nodes={nodes} />}
      {plan.input !== undefined && (
        <section className="stack tight">
          <h3>Input as it is read</h3>
          <Json value={plan.input} label="input" />
        </section>
      )}
    </section>
  );
}

function Steps({ nodes }: { nodes: Node[] }) {
  return (
    <section className="stack tight">
      <h3>What it would do</h3>
      <ol className="start-steps">
        {nodes.map((node) => (
          <li key={node.id}>
            {node.label} <span className="faint">{node.kind}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
