/** What would run for some goals, given some inputs: seen at once, before anything runs. */

import { useMemo, useState } from "react";
import { Empty } from "../../../components/Empty";
import { useKey } from "../../../shell/keys";
import { useLocation, useQuery } from "../../../shell/router";
import { StepGraph } from "../CatalogGraph";
import { type CatalogIndex, typeOf } from "../catalog-index";
import { catalogPicture, gapOf, isStep, planPicture } from "../graph-view";
import { WHOLE } from "../neighbours";
import { PlanPanel } from "./PlanPanel";
import { type Asked, askedOf, fieldId, inputOf, queryOf, toggled } from "./plan-query";
import { usePlan } from "./use-plan";
import "./plan.css";

/** Up to this many steps those that planning never came to are shown too, greyed out. */
const FEW = 60;

export function PlanTab({ catalog, sequence }: { catalog: CatalogIndex; sequence: number }) {
  const [query, setQuery] = useQuery();
  const { search } = useLocation();
  const asked = useMemo(() => askedOf(new URLSearchParams(search)), [search]);
  const change = (next: Asked) => setQuery(queryOf(next));
  const { input, problems } = useMemo(() => inputOf(asked.given, (name) => typeOf(catalog, name)), [asked, catalog]);
  const state = usePlan(asked.goals, input, sequence);
  const [cursor, setCursor] = useState<string>();
  const pick = (id: string) => {
    const gap = gapOf(id);
    if (gap !== undefined) document.getElementById(fieldId(gap))?.focus();
    else if (isStep(id)) change(toggled(asked, id));
  };
  useKey("x", () => cursor && pick(cursor), { label: "Add or remove goal", group: "Plan" });
  const count = catalog.steps.length;
  const all = count <= WHOLE && (query.get("all") === null ? count <= FEW : query.get("all") === "1");
  const plan = state.planned?.plan;
  const names = useMemo(() => Object.keys(input), [input]);
  const view = useMemo(() => {
    if (plan) return planPicture(catalog, plan, names, all);
    return count <= WHOLE ? catalogPicture(catalog) : undefined;
  }, [catalog, plan, names, all, count]);
  return (
    <div className="catalog with-side plan">
      <section className="catalog-graph">
        {plan && count <= WHOLE && (
          <label className="row plan-all">
            <input
              type="checkbox"
              checked={all}
              onChange={(event) => setQuery({ all: event.target.checked ? "1" : "0" })}
            />
            Show unrelated steps
          </label>
        )}
        {view ? (
          <StepGraph view={view} selected={cursor} onSelect={setCursor} onPick={pick} label="Graph of the plan" />
        ) : (
          <Empty icon="goal" title="Choose a goal">
            The plan shows which steps would run for it, and which would not.
          </Empty>
        )}
      </section>
      <PlanPanel catalog={catalog} asked={asked} onChange={change} input={input} problems={problems} state={state} />
    </div>
  );
}
