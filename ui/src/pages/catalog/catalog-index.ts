/** A catalog made ready for looking things up and searching: thousands of steps answer at the speed of typing. */

import type { Attribute, AttributeDetail, Catalog, Health, HealthStatus, Links, Step } from "../../api/goals";

export interface CatalogIndex {
  /** By id. */
  steps: readonly Step[];
  byId: ReadonlyMap<string, Step>;
  /** All that a step can be found by, in lower case; in the order of `steps`. */
  texts: readonly string[];
  links: { [name: string]: Links };
  health: { [step: string]: Health };
  /** Goal -> the flow steps that want it. */
  flows: ReadonlyMap<string, string[]>;
}

export function indexed({ steps, attributes, health }: Catalog): CatalogIndex {
  const sorted = [...steps].sort((a, b) => (a.id < b.id ? -1 : 1));
  const flows = new Map<string, string[]>();
  for (const { id, flow } of sorted) {
    for (const goal of flow?.goals ?? []) flows.set(goal, [...(flows.get(goal) ?? []), id]);
  }
  return {
    steps: sorted,
    byId: new Map(sorted.map((step) => [step.id, step])),
    texts: sorted.map(textOf),
    links: attributes,
    health,
    flows,
  };
}

function textOf({ id, name, type, labels, attributes }: Step): string {
  const marks = Object.entries(labels ?? {}).map(([key, value]) => `${key}:${value}`);
  return [id, name, type, ...marks, ...Object.keys(attributes ?? {})].join("\n").toLowerCase();
}

export interface Search {
  /** Each word must be in the id, the name, the type, a label or the name of an attribute. */
  q: string;
  type: string;
  health: string;
}

export function search({ steps, texts, health }: CatalogIndex, wanted: Search): readonly Step[] {
  const words = wanted.q.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && !wanted.type && !wanted.health) return steps;
  return steps.filter(
    (step, index) =>
      (!wanted.type || step.type === wanted.type) &&
      (!wanted.health || statusOf(health, step.id) === wanted.health) &&
      words.every((word) => texts[index]?.includes(word)),
  );
}

/** The first few that fit, those first whose name is what was typed, or begins with it. */
export function best(catalog: CatalogIndex, q: string, most: number, without: readonly string[] = []): Step[] {
  const typed = q.trim().toLowerCase();
  const ranks: [Step[], Step[], Step[]] = [[], [], []];
  for (const step of search(catalog, { q, type: "", health: "" })) {
    if (without.includes(step.id)) continue;
    const names = [step.id, step.name.toLowerCase()];
    const exact = names.includes(typed) ? 0 : names.some((name) => name.startsWith(typed)) ? 1 : 2;
    if (ranks[exact].length < most) ranks[exact].push(step);
  }
  return ranks.flat().slice(0, most);
}

export function statusOf(health: { [step: string]: Health }, id: string): HealthStatus {
  return health[id]?.status ?? "unknown";
}

export interface Port {
  name: string;
  attribute: Attribute;
  detail: AttributeDetail;
}

export function ports(step: Step): { inputs: Port[]; outputs: Port[] } {
  const all = Object.entries(step.attributes ?? {}).map(([name, attribute]) => ({
    name,
    attribute,
    detail: attribute[attribute.role] ?? {},
  }));
  return {
    inputs: all.filter(({ attribute }) => attribute.role !== "output").sort(byRole),
    outputs: all.filter(({ attribute }) => attribute.role === "output"),
  };
}

const ROLES = ["required", "optional", "const", "meta"];

function byRole(a: Port, b: Port): number {
  return ROLES.indexOf(a.attribute.role) - ROLES.indexOf(b.attribute.role) || (a.name < b.name ? -1 : 1);
}

/** The names that come from other steps or from the start, and those that go to others. */
export function wires(step: Step): { takes: string[]; gives: string[] } {
  const { inputs, outputs } = ports(step);
  const outside = inputs.filter(({ attribute }) => attribute.role === "required" || attribute.role === "optional");
  return { takes: outside.map(({ name }) => name), gives: outputs.map(({ name }) => name) };
}

/** What removing a step would break: names with no other provider, with their consumers, and flows that lead to it. */
export function leftWithout(catalog: CatalogIndex, id: string): { orphans: [string, string[]][]; flows: string[] } {
  const step = catalog.byId.get(id);
  const orphans: [string, string[]][] = [];
  for (const name of step ? wires(step).gives : []) {
    const { providers = [], consumers = [] } = catalog.links[name] ?? {};
    if (providers.every((one) => one === id) && consumers.length > 0) orphans.push([name, consumers]);
  }
  return { orphans, flows: catalog.flows.get(id) ?? [] };
}

/** What is known of a name's type: that of the first step that says one. */
export function typeOf(catalog: CatalogIndex, name: string): string {
  const { providers = [], consumers = [] } = catalog.links[name] ?? {};
  for (const id of [...consumers, ...providers]) {
    const type = catalog.byId.get(id)?.attributes?.[name]?.type ?? "any";
    if (type !== "any") return type;
  }
  return "any";
}
