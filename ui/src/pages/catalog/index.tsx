/** The catalog of the namespace: its steps as a list and as a graph, and the plan of what would run for some goals. */

import { useState } from "react";
import type { Step } from "../../api/goals";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { Link, location, useLocation, useQuery } from "../../shell/router";
import { CatalogGraph } from "./CatalogGraph";
import type { CatalogIndex } from "./catalog-index";
import { isStep } from "./graph-view";
import { PlanTab } from "./plan/PlanTab";
import { askedOf, queryOf, toggled } from "./plan/plan-query";
import { RegisterDialog } from "./RegisterDialog";
import { StepList } from "./StepList";
import { StepPanel } from "./StepPanel";
import { UnregisterDialog } from "./UnregisterDialog";
import { useCatalog } from "./use-catalog";
// The side panel, its header and the tabs are shared with the run page.
import "../run/run.css";
import "./catalog.css";

const TABS = [
  ["list", "List"],
  ["graph", "Graph"],
  ["plan", "Plan"],
] as const;
type Tab = (typeof TABS)[number][0];

type Open = { what: "register" } | { what: "edit" | "remove"; step: Step };

export default function CatalogPage() {
  const { catalog, sequence, error, reload } = useCatalog();
  const may = allows(useMe(), "editor");
  const [query, setQuery] = useQuery();
  const [open, setOpen] = useState<Open>();
  const done = (id: string | undefined) => {
    reload();
    setQuery({ step: id });
  };
  const tab = TABS.find(([name]) => name === query.get("tab"))?.[0] ?? "list";
  const register = () => setOpen({ what: "register" });
  const empty = catalog?.steps.length === 0;
  return (
    <Page
      title="Catalog"
      full
      actions={
        may && (
          <Button icon="plus" onClick={register}>
            Register a step
          </Button>
        )
      }
    >
      {error && (
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      )}
      {!catalog && !error && <Loading what="Loading the catalog" />}
      {empty && <NoSteps onRegister={may ? register : undefined} />}
      {catalog && !empty && (
        <>
          <Tabs tab={tab} goals={askedOf(query).goals.length} />
          {tab === "plan" ? (
            <PlanTab catalog={catalog} sequence={sequence} />
          ) : (
            <Steps catalog={catalog} tab={tab} may={may} onOpen={setOpen} />
          )}
        </>
      )}
      {open && catalog && <Changing open={open} catalog={catalog} onClose={() => setOpen(undefined)} onDone={done} />}
    </Page>
  );
}

interface ChangingProps {
  open: Open;
  catalog: CatalogIndex;
  onClose: () => void;
  /** With the step that is shown then. */
  onDone: (id: string | undefined) => void;
}

function Changing({ open, catalog, onClose, onDone }: ChangingProps) {
  if (open.what === "register") return <RegisterDialog onClose={onClose} onDone={onDone} />;
  if (open.what === "edit") return <RegisterDialog step={open.step} onClose={onClose} onDone={onDone} />;
  return <UnregisterDialog step={open.step} catalog={catalog} onClose={onClose} onDone={() => onDone(undefined)} />;
}

function Tabs({ tab, goals }: { tab: Tab; goals: number }) {
  const { search } = useLocation();
  return (
    <nav className="tabs" aria-label="Catalog views">
      {TABS.map(([name, label]) => (
        <Link key={name} to={withTab(search, name)} className="tab" aria-current={name === tab ? "page" : undefined}>
          {label}
          {name === "plan" && goals > 0 && (
            <span className="tab-count">
              {goals}
              <span className="visually-hidden">{goals === 1 ? " goal" : " goals"}</span>
            </span>
          )}
        </Link>
      ))}
    </nav>
  );
}

function withTab(search: string, tab: Tab): string {
  const params = new URLSearchParams(search);
  params.set("tab", tab);
  return `/catalog?${params}`;
}

interface StepsProps {
  catalog: CatalogIndex;
  tab: Tab;
  may: boolean;
  onOpen: (open: Open) => void;
}

function Steps({ catalog, tab, may, onOpen }: StepsProps) {
  const [query, setQuery] = useQuery();
  const { search } = useLocation();
  const id = query.get("step") ?? undefined;
  const step = id === undefined ? undefined : catalog.byId.get(id);
  const to = (next: string) => {
    const params = new URLSearchParams(search);
    params.set("step", next);
    return `/catalog?${params}`;
  };
  return (
    <div className={id === undefined ? "catalog" : "catalog with-side"}>
      {tab === "list" && (
        <StepList catalog={catalog} selected={id} goals={askedOf(query).goals} to={to} onGoal={toggleGoal(setQuery)} />
      )}
      {tab === "graph" && (
        <CatalogGraph
          catalog={catalog}
          selected={id}
          onSelect={(next) => (next === undefined || isStep(next)) && setQuery({ step: next })}
        />
      )}
      {step && (
        <StepPanel
          key={step.id}
          step={step}
          catalog={catalog}
          may={may}
          to={to}
          onEdit={() => onOpen({ what: "edit", step })}
          onRemove={() => onOpen({ what: "remove", step })}
          onClose={() => setQuery({ step: undefined })}
        />
      )}
      {id !== undefined && !step && <NoStep id={id} onClose={() => setQuery({ step: undefined })} />}
    </div>
  );
}

function NoStep({ id, onClose }: { id: string; onClose: () => void }) {
  return (
    <aside className="inspector" aria-label="Step">
      <Empty icon="search" title={`Step ${id} not found`} action={<Button onClick={onClose}>Close</Button>}>
        It may have been unregistered, or be in another namespace.
      </Empty>
    </aside>
  );
}

/** Reads the goals when it is called: rows of the list keep it for long. */
function toggleGoal(setQuery: ReturnType<typeof useQuery>[1]) {
  return (id: string) => setQuery(queryOf(toggled(askedOf(new URLSearchParams(location().search)), id)));
}

function NoSteps({ onRegister }: { onRegister?: () => void }) {
  return (
    <Empty
      icon="catalog"
      title="No steps yet"
      command="plait check steps.json --register"
      action={
        onRegister && (
          <Button look="primary" icon="plus" onClick={onRegister}>
            Register a step
          </Button>
        )
      }
    >
      Steps declare their inputs and outputs. Choose a goal, and the engine plans which steps to run.
    </Empty>
  );
}
