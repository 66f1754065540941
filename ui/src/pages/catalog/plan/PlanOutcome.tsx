/** What would run and what not, and why, in words. */

import type { ReactNode } from "react";
import type { GoalsPlan, Planned } from "../../../api/goals";
import { Icon } from "../../../components/Icon";
import { Link } from "../../../shell/router";
import type { CatalogIndex } from "../catalog-index";
import { stepPath } from "../descriptions";
import { Health } from "../Health";
import { childGaps, inOrder } from "./step-status";

export function PlanOutcome({ planned, catalog }: { planned: Planned; catalog: CatalogIndex }) {
  const { plan } = planned;
  const notes = [...new Set([...planned.notes, ...plan.warnings])];
  const met = Object.keys(plan.steps).length + excludedCount(plan);
  const unmet = catalog.steps.length - met;
  return (
    <>
      <Verdict planned={planned} />
      {notes.length > 0 && (
        <ul className="plan-notes" aria-label="Warnings">
          {notes.map((note) => (
            <li key={note}>
              <Icon name="warning" size={14} />
              <span>{note}</span>
            </li>
          ))}
        </ul>
      )}
      <PlanSteps plan={plan} catalog={catalog} />
      {unmet > 0 && (
        <p className="faint">
          {unmet.toLocaleString("en")} other {unmet === 1 ? "step is" : "steps are"} unrelated.
        </p>
      )}
    </>
  );
}

function excludedCount({ excluded: { missing, satisfied, blocked } }: GoalsPlan): number {
  return [missing, satisfied, blocked].reduce((sum, one) => sum + Object.keys(one).length, 0);
}

function Verdict({ planned: { valid, plan } }: { planned: Planned }) {
  const count = Object.keys(plan.steps).length;
  const steps = count === 1 ? "1 step" : `${count} steps`;
  const { required } = plan;
  const gaps = childGaps(plan);
  if (valid) {
    return (
      <p className="plan-verdict ok" role="status">
        <Icon name="check" />
        <strong>{count === 0 ? "Nothing to run: all outputs are given" : `${steps} would run`}</strong>
      </p>
    );
  }
  return (
    <div className="plan-verdict" role="status">
      <Icon name="warning" />
      <div>
        <strong>
          {required.length === 0 ? "Missing inputs in child runs" : "Missing inputs: "}
          <Names names={required} />
        </strong>
        {gaps.map(({ step, names }) => (
          <p key={step}>
            The child run of <StepLink id={step} /> is missing <Names names={names} />: add it to the inputs of that
            step
          </p>
        ))}
      </div>
    </div>
  );
}

/** Also of a child: its plan has the same shape. */
function PlanSteps({ plan, catalog }: { plan: GoalsPlan; catalog: CatalogIndex }) {
  const order = inOrder(plan);
  const goals = new Set(plan.goals);
  const { missing, satisfied, blocked } = plan.excluded;
  return (
    <>
      {order.length > 0 && (
        <section className="stack tight" aria-label="Would run">
          <h3>Would run</h3>
          <Few
            all={order}
            row={(id) => (
              <li key={id} className="plan-step">
                <Health health={catalog.health[id]} />
                <StepLink id={id} name={plan.steps[id]?.name} />
                {goals.has(id) && <span className="chip plan-mark">goal</span>}
                <span className="grow" />
                <span className="faint">{plan.steps[id]?.type}</span>
              </li>
            )}
          />
        </section>
      )}
      <Left title="Not needed" words="already given:" steps={satisfied} />
      <Left title="Would not run" words="missing" steps={missing} />
      <Left title="Blocked" words="excluded by" steps={blocked} />
      {Object.entries(plan.children).map(([id, child]) => (
        <details key={id} className="plan-child">
          <summary>
            The child run of <code>{id}</code>: {Object.keys(child.steps).length} steps
            {child.required.length > 0 && <span className="field-error"> missing {child.required.join(", ")}</span>}
          </summary>
          <PlanSteps plan={child} catalog={catalog} />
        </details>
      ))}
    </>
  );
}

function Left({ title, words, steps }: { title: string; words: string; steps: { [step: string]: string[] } }) {
  const all = Object.keys(steps);
  if (all.length === 0) return null;
  return (
    <section className="stack tight" aria-label={title}>
      <h3>{title}</h3>
      <Few
        all={all}
        row={(id) => (
          <li key={id} className="plan-step left">
            <StepLink id={id} />{" "}
            <span className="muted">
              {words} <Names names={steps[id] ?? []} />
            </span>
          </li>
        )}
      />
    </section>
  );
}

const FEW = 100;

function Few({ all, row }: { all: string[]; row: (id: string) => ReactNode }) {
  return (
    <ol className="plan-steps">
      {all.slice(0, FEW).map(row)}
      {all.length > FEW && <li className="faint">and {all.length - FEW} more</li>}
    </ol>
  );
}

function StepLink({ id, name }: { id: string; name?: string }) {
  return (
    <Link className="text plan-link" to={stepPath(id)} title={id}>
      {name ?? id}
    </Link>
  );
}

function Names({ names }: { names: string[] }) {
  return names.map((name, index) => (
    <span key={name}>
      {index > 0 && ", "}
      <code>{name}</code>
    </span>
  ));
}
