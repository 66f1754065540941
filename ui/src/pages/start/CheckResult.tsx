/** The result of checking a start. */

import type { Plan } from "../../api/types";
import { Icon } from "../../components/Icon";
import { Json } from "../../components/Json";
import "../definitions/loaded-badge.css";

export function CheckResult({ plan }: { plan: Plan }) {
  return (
    <section className="card pad stack start-plan" aria-label="Check" role="status">
      <h2 className="row">
        <span className="loaded">
          <Icon name={plan.valid ? "check" : "warning"} />
        </span>
        {plan.valid ? "Ready to start" : "Can't be started yet"}
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
      {plan.notes.length > 0 && (
        <ul className="start-notes">
          {plan.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {plan.plan !== undefined && (
        <section className="stack tight">
          <h3>Plan</h3>
          <Json value={plan.plan} label="plan" />
        </section>
      )}
      {plan.input !== undefined && (
        <section className="stack tight">
          <h3>Parsed input</h3>
          <Json value={plan.input} label="input" />
        </section>
      )}
    </section>
  );
}
