/** The side of the plan: goals, inputs, what comes of them, and the button that runs it. */

import { api } from "../../../api/client";
import { currentNamespace } from "../../../api/namespace";
import type { Started } from "../../../api/types";
import { useRequest } from "../../../api/use-request";
import { Button, IconButton } from "../../../components/Button";
import { CopyAs } from "../../../components/CopyAs";
import { ErrorBox } from "../../../components/ErrorBox";
import { Loading } from "../../../shell/fallbacks";
import { allows, useMe } from "../../../shell/me";
import { navigate } from "../../../shell/router";
import { toast } from "../../../shell/toasts";
import type { CatalogIndex } from "../catalog-index";
import { StepFinder } from "../StepFinder";
import { PlanInputs } from "./PlanInputs";
import { PlanOutcome } from "./PlanOutcome";
import { type Asked, bodyOf, type Input, planCopy, runCopy, toggled } from "./plan-query";
import type { PlanState } from "./use-plan";

interface PlanPanelProps {
  catalog: CatalogIndex;
  asked: Asked;
  onChange: (asked: Asked) => void;
  input: Input;
  problems: { [name: string]: string };
  state: PlanState;
}

export function PlanPanel({ catalog, asked, onChange, input, problems, state }: PlanPanelProps) {
  const { planned, problem, stale } = state;
  const { goals } = asked;
  return (
    <aside className="inspector plan-panel" aria-label="Plan" aria-busy={stale}>
      <div className="inspector-body">
        <section className="stack tight" aria-label="Goals">
          <h2>Goals</h2>
          {goals.length > 0 && (
            <ul className="plan-goals">
              {goals.map((id) => (
                <li key={id} className="chip plan-goal">
                  {catalog.byId.get(id)?.name ?? id}
                  <IconButton
                    icon="close"
                    className="small"
                    label={`Remove the goal ${id}`}
                    onClick={() => onChange(toggled(asked, id))}
                  />
                </li>
              ))}
            </ul>
          )}
          <StepFinder
            catalog={catalog}
            label="Add a goal"
            placeholder={goals.length === 0 ? "Choose a goal" : "Another goal"}
            without={goals}
            onPick={(id) => onChange(toggled(asked, id))}
          />
          {goals.length === 0 && <p className="muted">Search for a step, or click one in the graph.</p>}
        </section>
        {goals.length > 0 && (
          <>
            <PlanInputs
              catalog={catalog}
              plan={planned?.plan}
              given={asked.given}
              problems={problems}
              onChange={(given) => onChange({ ...asked, given })}
            />
            {problem && <ErrorBox error={problem} title="Planning failed" />}
            {!planned && !problem && <Loading what="Loading the plan" />}
            {planned && <PlanOutcome planned={planned} catalog={catalog} />}
          </>
        )}
      </div>
      {goals.length > 0 && (
        <RunBar
          goals={goals}
          input={input}
          ready={planned?.valid === true && !stale && Object.keys(problems).length === 0}
        />
      )}
    </aside>
  );
}

function RunBar({ goals, input, ready }: { goals: string[]; input: Input; ready: boolean }) {
  const may = allows(useMe(), "operator");
  const { busy, error, send } = useRequest();
  const namespace = currentNamespace();
  const run = () =>
    send(async () => {
      const { id } = await api.post<Started>("/runs", bodyOf(goals, input));
      toast({ kind: "ok", text: `Started ${id}` });
      navigate(`/runs/${encodeURIComponent(id)}`);
    });
  return (
    <footer className="plan-foot">
      {error && <ErrorBox error={error} title="Could not start the run" />}
      <div className="row wrap">
        <Button look="primary" icon="play" busy={busy} disabled={!ready || !may} onClick={run}>
          Run
        </Button>
        <span className="grow" />
        <CopyAs
          up
          action={runCopy(goals, input, namespace)}
          others={{ "Plan only": planCopy(goals, input, namespace) }}
        />
      </div>
    </footer>
  );
}
