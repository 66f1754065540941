/** What was changed of a run's definition while it ran, and what takes one change back. */

import type { GraphChange, RunGraph } from "../../../api/schema";
import type { Json } from "../../../api/types";
import { applyPatch, makePatch, type Operation } from "../../editor/json-patch";
import { type Conflict, merge } from "../../editor/merge";

/** The definition after each change; the first is the one that the run began with. */
export function revisionsOf({ base, changes }: Pick<RunGraph, "base" | "changes">): Json[] {
  const found: Json[] = [base];
  for (const { operations } of changes) found.push(applyPatch(found.at(-1) ?? null, operations as Operation[]));
  return found;
}

export interface Inverse {
  operations: Operation[];
  /** Changed since by another change: what is there now is lost. */
  conflicts: Conflict[];
}

/** What makes the definition as it is now into one without that change. */
export function inverseOf(graph: RunGraph, change: GraphChange): Inverse {
  const revisions = revisionsOf(graph);
  const index = graph.changes.findIndex(({ seq }) => seq === change.seq);
  const [before, after] = [revisions[index] ?? null, revisions[index + 1] ?? null];
  const { value, conflicts } = merge(after, before, graph.definition);
  return { operations: makePatch(graph.definition, value), conflicts };
}
