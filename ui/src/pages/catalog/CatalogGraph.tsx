/** The steps as a graph: all of them, or of a big catalog those around the chosen one. */

import { useMemo } from "react";
import { Empty } from "../../components/Empty";
import { lazy } from "../../shell/lazy";
import type { CatalogIndex } from "./catalog-index";
import { catalogPicture } from "./graph-view";
import { around, WHOLE } from "./neighbours";
import { StepFinder } from "./StepFinder";

export const StepGraph = lazy(() => import("./StepGraph"));

interface CatalogGraphProps {
  catalog: CatalogIndex;
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
}

export function CatalogGraph({ catalog, selected, onSelect }: CatalogGraphProps) {
  const big = catalog.steps.length > WHOLE;
  const part = useMemo(() => (big && selected ? around(catalog, [selected]) : undefined), [big, catalog, selected]);
  const view = useMemo(() => catalogPicture(catalog, big ? (part?.ids ?? []) : undefined), [catalog, big, part]);
  return (
    <section className="catalog-graph">
      <div className="row wrap">
        <StepFinder catalog={catalog} label="Find a step" placeholder="Find a step" onPick={onSelect} />
        {part && view.nodes.length > 0 && (
          <p className="muted" role="status">
            {part.cut ? `The ${part.ids.length} nearest` : `${part.ids.length}`} of{" "}
            {catalog.steps.length.toLocaleString("en")} steps: what is around the chosen one
          </p>
        )}
      </div>
      {view.nodes.length === 0 ? (
        <Empty icon="catalog" title="Choose a step">
          This catalog has {catalog.steps.length.toLocaleString("en")} steps, too many for one picture. You see the one
          that you choose, what it needs and what needs it.
        </Empty>
      ) : (
        <StepGraph view={view} selected={selected} onSelect={onSelect} label="Graph of the steps" />
      )}
    </section>
  );
}
