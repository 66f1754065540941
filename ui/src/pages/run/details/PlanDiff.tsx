/** What was planned and what became of it: which steps ran, which were skipped and why, which the plan left out. */

import type { Json, RunDetail } from "../../../api/types";
import { LinkButton } from "../../../components/Button";
import { Status } from "../../../components/Status";
import { planPath, textOf } from "../../catalog/plan/plan-query";
import type { Details } from "./details";
import { type Outcome, outcomes, tallied } from "./outcomes";
import "./details.css";

interface PlanDiffProps {
  detail: RunDetail;
  details: Details;
  onNode: (id: string) => void;
}

export default function PlanDiff({ detail, details, onNode }: PlanDiffProps) {
  const all = outcomes(details, detail.view.nodes);
  const { goals = [], excluded, required = [], warnings = [] } = details.plan ?? {};
  return (
    <div className="plan-diff">
      <div className="row wrap">
        <p className="grow">
          {all.length === 0 ? "Nothing to run: all outputs were given." : `${all.length} planned: ${tallied(all)}`}
        </p>
        <LinkButton to={planPath(goals, given(detail.input))} icon="goal">
          Plan again
        </LinkButton>
      </div>
      {required.length > 0 && <p className="field-error">Missing inputs: {required.join(", ")}</p>}
      {all.length > 0 && <Planned all={all} onNode={onNode} />}
      <Left title="Not needed" words="already given:" steps={excluded?.satisfied} />
      <Left title="Could not run" words="missing" steps={excluded?.missing} />
      <Left title="Blocked" words="excluded by" steps={excluded?.blocked} />
      {warnings.length > 0 && (
        <section className="stack tight" aria-label="Warnings">
          <h2>Warnings</h2>
          <ul className="plan-left">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** The input of the run, as it would be typed. */
function given(input: Json): { name: string; text: string }[] {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return [];
  return Object.entries(input).map(([name, value]) => ({ name, text: textOf(value) }));
}

function Planned({ all, onNode }: { all: Outcome[]; onNode: (id: string) => void }) {
  return (
    <section className="card" aria-label="Planned steps">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Outcome</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {all.map(({ step, status, why, goal }) => (
            <tr key={step}>
              <td>
                <button type="button" className="why-node" onClick={() => onNode(step)}>
                  {step}
                </button>{" "}
                {goal && <span className="chip">goal</span>}
              </td>
              <td>{status === "pending" ? <span className="faint">Not started</span> : <Status status={status} />}</td>
              <td className="muted plan-why">{why}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Left({ title, words, steps = {} }: { title: string; words: string; steps?: { [step: string]: string[] } }) {
  const all = Object.entries(steps);
  if (all.length === 0) return null;
  return (
    <section className="stack tight" aria-label={title}>
      <h2>{title}</h2>
      <ul className="plan-left">
        {all.map(([step, names]) => (
          <li key={step}>
            <code>{step}</code> <span className="muted">{words}</span> <code>{names.join(", ")}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}
