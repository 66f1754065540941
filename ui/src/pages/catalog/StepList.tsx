/** All steps as a list: searched, chosen by type and health, and only those in view in the page. */

import { type CSSProperties, memo, useDeferredValue, useMemo } from "react";
import type { Health as HealthState, Step } from "../../api/goals";
import { Button, LinkButton } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { VirtualList } from "../../components/VirtualList";
import { useKey } from "../../shell/keys";
import { Link, useQuery } from "../../shell/router";
import { type CatalogIndex, search, wires } from "./catalog-index";
import { Health } from "./Health";
import { askedOf, planPath } from "./plan/plan-query";

const ROW = 52;
const TYPES = ["sync", "async", "script", "flow", "python", "run", "tool", "agent", "pipeline"];

interface StepListProps {
  catalog: CatalogIndex;
  selected: string | undefined;
  goals: readonly string[];
  /** The address of the page with that step open. */
  to: (id: string) => string;
  onGoal: (id: string) => void;
}

export function StepList({ catalog, selected, goals, to, onGoal }: StepListProps) {
  const [query, setQuery] = useQuery();
  const q = query.get("q") ?? "";
  const type = query.get("type") ?? "";
  const health = query.get("health") ?? "";
  const wanted = useDeferredValue(q);
  const found = useMemo(() => search(catalog, { q: wanted, type, health }), [catalog, wanted, type, health]);
  const chosen = useMemo(() => new Set(goals), [goals]);
  useRowKeys(onGoal);
  return (
    <section className="step-list" aria-label="Steps">
      <Tools found={found.length} all={catalog.steps.length} goals={goals} />
      {found.length === 0 ? (
        <Empty
          icon="search"
          title="No matching steps"
          action={<Button onClick={() => setQuery({ q: "", type: "", health: "" })}>Show all</Button>}
        />
      ) : (
        <VirtualList
          className="step-rows"
          label="Steps, by id"
          role="list"
          count={found.length}
          rowHeight={ROW}
          row={(index, style) => {
            const step = found[index];
            return (
              step && (
                <Row
                  key={step.id}
                  step={step}
                  health={catalog.health[step.id]}
                  to={to(step.id)}
                  selected={step.id === selected}
                  goal={chosen.has(step.id)}
                  onGoal={onGoal}
                  style={style}
                />
              )
            );
          }}
        />
      )}
    </section>
  );
}

function Tools({ found, all, goals }: { found: number; all: number; goals: readonly string[] }) {
  const [query, setQuery] = useQuery();
  return (
    <div className="row wrap">
      <input
        type="search"
        className="input step-search"
        placeholder="Search by name, label or attribute"
        aria-label="Find a step"
        value={query.get("q") ?? ""}
        onChange={(event) => setQuery({ q: event.target.value })}
      />
      <Choice
        name="Type"
        value={query.get("type") ?? ""}
        all="All types"
        values={TYPES}
        onChange={(next) => setQuery({ type: next })}
      />
      <Choice
        name="Health"
        value={query.get("health") ?? ""}
        all="Any health"
        values={["healthy", "unhealthy", "unknown"]}
        onChange={(next) => setQuery({ health: next })}
      />
      <span className="faint grow" role="status">
        {count(found, all)}
      </span>
      {goals.length > 0 && (
        <LinkButton to={planPath(goals, askedOf(query).given)} look="primary" icon="goal">
          Plan {goals.length === 1 ? "1 goal" : `${goals.length} goals`}
        </LinkButton>
      )}
    </div>
  );
}

function count(found: number, all: number): string {
  const steps = (n: number) => `${n.toLocaleString("en")} ${n === 1 ? "step" : "steps"}`;
  return found === all ? steps(all) : `${found.toLocaleString("en")} of ${steps(all)}`;
}

interface ChoiceProps {
  name: string;
  value: string;
  all: string;
  values: string[];
  onChange: (value: string) => void;
}

function Choice({ name, value, all, values, onChange }: ChoiceProps) {
  return (
    <select
      className="input step-choice"
      aria-label={name}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{all}</option>
      {values.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}

interface RowProps {
  step: Step;
  health: HealthState | undefined;
  to: string;
  selected: boolean;
  goal: boolean;
  onGoal: (id: string) => void;
  style: CSSProperties;
}

const Row = memo(RowOf, (a, b) => {
  const { health: x, style: s } = a;
  const { health: y, style: t } = b;
  return (
    a.step === b.step &&
    x?.status === y?.status &&
    x?.error === y?.error &&
    a.to === b.to &&
    a.selected === b.selected &&
    a.goal === b.goal &&
    s.top === t.top
  );
});

function RowOf({ step, health, to, selected, goal, onGoal, style }: RowProps) {
  const { id, name, type, labels } = step;
  const { takes, gives } = wires(step);
  return (
    <li className={selected ? "step-row selected" : "step-row"} style={style}>
      <input
        type="checkbox"
        aria-label={`${name} is a goal`}
        title="Add to goals (x)"
        checked={goal}
        onChange={() => onGoal(id)}
      />
      <Health health={health} />
      <Link to={to} data-step-row={id} className="step-link" aria-current={selected ? "true" : undefined}>
        <span className="step-names">
          <strong className="clip">{name}</strong>
          <code className="clip faint">{id}</code>
        </span>
        <span className="clip step-wires">
          {takes.join(", ") || "nothing"} <span aria-hidden="true">→</span>
          <span className="visually-hidden"> gives </span> {gives.join(", ") || "nothing"}
        </span>
      </Link>
      {health?.error && (
        <span className="clip step-error" title={health.error}>
          {health.error}
        </span>
      )}
      <span className="step-labels">
        {Object.entries(labels ?? {}).map(([key, value]) => (
          <span key={key} className="chip">
            <span className="faint">{key}</span>
            {value}
          </span>
        ))}
      </span>
      <span className="chip">{type}</span>
    </li>
  );
}

/** j and k move the focus, so that Enter, Tab and screen readers just work. */
function useRowKeys(onGoal: (id: string) => void) {
  const group = "Catalog";
  const rows = () => [...document.querySelectorAll<HTMLElement>("[data-step-row]")];
  const move = (step: number) => {
    const all = rows();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  useKey("j", () => move(1), { label: "Next step", group });
  useKey("k", () => move(-1), { label: "Previous step", group });
  useKey("Enter", () => rows()[0]?.click(), { label: "Open the step", group });
  useKey(
    "x",
    () => {
      const id = (document.activeElement as HTMLElement | null)?.dataset.stepRow;
      if (id) onGoal(id);
    },
    { label: "Add or remove goal", group },
  );
}
