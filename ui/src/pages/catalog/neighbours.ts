/** The part of a big catalog around some steps: what they need and what needs them, nearest first. */

import type { Step } from "../../api/goals";
import { type CatalogIndex, wires } from "./catalog-index";

/** Up to this many steps a catalog is shown whole. */
export const WHOLE = 300;
/** So many of the steps around the chosen one. */
export const AROUND = 120;

export interface Part {
  ids: string[];
  /** Whether more would follow. */
  cut: boolean;
}

export function around(catalog: CatalogIndex, start: readonly string[], most = AROUND): Part {
  const found = new Set(start.filter((id) => catalog.byId.has(id)));
  const queue = [...found];
  for (const id of queue) {
    const step = catalog.byId.get(id);
    if (!step) continue;
    for (const near of beside(catalog, step)) {
      if (found.has(near)) continue;
      if (found.size >= most) return { ids: [...found], cut: true };
      found.add(near);
      queue.push(near);
    }
  }
  return { ids: [...found], cut: false };
}

function* beside(catalog: CatalogIndex, step: Step): Generator<string> {
  const { takes, gives } = wires(step);
  for (const name of takes) yield* catalog.links[name]?.providers ?? [];
  for (const name of gives) yield* catalog.links[name]?.consumers ?? [];
  for (const goal of step.flow?.goals ?? []) if (catalog.byId.has(goal)) yield goal;
  yield* catalog.flows.get(step.id) ?? [];
}
