/** Where each step of the catalog stands in a plan, and why. */

import type { GoalsPlan } from "../../../api/goals";

/** `unmet`: planning never came to it. */
export type PlaceName = "goal" | "planned" | "missing" | "satisfied" | "blocked" | "unmet";

export interface Place {
  name: PlaceName;
  /** In a few words, for the card. */
  why: string;
}

const UNMET: Place = { name: "unmet", why: "unrelated" };

export function placesOf(plan: GoalsPlan): (id: string) => Place {
  const goals = new Set(plan.goals);
  const { missing, satisfied, blocked } = plan.excluded;
  return (id) => {
    if (id in plan.steps) return goals.has(id) ? { name: "goal", why: "goal" } : { name: "planned", why: "would run" };
    if (id in missing) return { name: "missing", why: `missing ${named(missing[id])}` };
    if (id in satisfied) return { name: "satisfied", why: `${named(satisfied[id])} already given` };
    if (id in blocked) return { name: "blocked", why: `blocked by ${named(blocked[id])}` };
    return UNMET;
  };
}

function named(names: string[] | undefined): string {
  return names?.join(", ") || "its outputs";
}

export const PLACE_WORDS: { [place in PlaceName]: string } = {
  goal: "goal",
  planned: "would run",
  missing: "would not run: missing input",
  satisfied: "not needed: outputs are given",
  blocked: "would not run: blocked by a given input",
  unmet: "unrelated",
};

/** The steps that would run, each after those it gets something from; a tie goes by name. */
export function inOrder(plan: GoalsPlan): string[] {
  const before = new Map<string, Set<string>>(Object.keys(plan.steps).map((id) => [id, new Set()]));
  for (const { providers, consumers } of Object.values(plan.attributes)) {
    for (const id of consumers) for (const from of providers) if (from !== id) before.get(id)?.add(from);
  }
  const order: string[] = [];
  const done = new Set<string>();
  let left = [...before.keys()].sort();
  while (left.length > 0) {
    const ready = left.filter((id) => [...(before.get(id) ?? [])].every((from) => done.has(from)));
    // The catalog has no cycles; should there be one, it is shown all the same.
    const next = ready.length > 0 ? ready : left;
    for (const id of next) done.add(id);
    order.push(...next);
    left = left.filter((id) => !done.has(id));
  }
  return order;
}

/** Gaps of child plans: they are mended at the flow step, not by an input. */
export function childGaps(plan: GoalsPlan): { step: string; names: string[] }[] {
  return Object.entries(plan.children).flatMap(([step, child]) => [
    ...(child.required.length > 0 ? [{ step, names: child.required }] : []),
    ...childGaps(child),
  ]);
}
