/** Catalogs and plans as pictures for the graph. */

import type { GoalsPlan, HealthStatus, Step } from "../../api/goals";
import type { Edge, Node, NodeStatus } from "../../api/types";
import type { GraphView } from "../run/graph/model";
import { type CatalogIndex, statusOf, wires } from "./catalog-index";
import { hubId, wiring } from "./edges";
import { type Place, type PlaceName, placesOf } from "./plan/step-status";

/** `init` is what is given, `gap` a name that has to be given, `hub` one that many give and many take. */
export type NodePlace = PlaceName | "init" | "gap" | "hub";

/** Its status, which no step of a catalog has, says how edges are drawn and what matters when not all is in view. */
export interface StepNode extends Node {
  health?: HealthStatus;
  place?: NodePlace;
  why?: string;
}

// No id of a step has such a character.
const INIT = "@";

export function gapId(name: string): string {
  return `?${name}`;
}

/** The name that a gap's node stands for. */
export function gapOf(id: string): string | undefined {
  return id.startsWith("?") ? id.slice(1) : undefined;
}

/** Whether it stands for a step, and not for a name. */
export function isStep(id: string): boolean {
  return !/^[?@]/.test(id);
}

export function catalogPicture(catalog: CatalogIndex, ids?: readonly string[]): GraphView {
  const steps = ids ? ids.flatMap((id) => catalog.byId.get(id) ?? []) : catalog.steps;
  const { edges, hubs } = wiring(steps, catalog.links);
  return { nodes: [...steps.map((step) => stepNode(catalog, step)), ...hubs.map(hubNode)], edges };
}

/** The plan among what was met, or among all steps. */
export function planPicture(catalog: CatalogIndex, plan: GoalsPlan, given: readonly string[], all: boolean): GraphView {
  const place = placesOf(plan);
  const steps = all ? catalog.steps : metSteps(catalog, plan);
  const nodes = steps.map((step) => stepNode(catalog, step, place(step.id)));
  const planned = Object.values(plan.steps);
  const { edges, hubs } = wiring(steps, catalog.links);
  const fromInit = wired(planned, given, () => INIT);
  const fromGaps = wired(planned, plan.required, gapId);
  if (fromInit.length > 0) nodes.unshift(initNode(fromInit.map(({ label }) => label ?? "")));
  nodes.push(...hubs.map(hubNode));
  nodes.unshift(...plan.required.map(gapNode));
  return { nodes, edges: [...fromGaps, ...fromInit, ...edges] };
}

function metSteps(catalog: CatalogIndex, plan: GoalsPlan): Step[] {
  const { missing, satisfied, blocked } = plan.excluded;
  const left = [...Object.keys(missing), ...Object.keys(satisfied), ...Object.keys(blocked)];
  return [...Object.values(plan.steps), ...left.flatMap((id) => catalog.byId.get(id) ?? [])];
}

function wired(steps: readonly Step[], names: readonly string[], source: (name: string) => string): Edge[] {
  const wanted = new Set(names);
  return steps.flatMap((step) =>
    wires(step)
      .takes.filter((name) => wanted.has(name))
      .map((name) => ({ source: source(name), target: step.id, label: name })),
  );
}

const STATUS: { [place in PlaceName]: NodeStatus } = {
  goal: "waiting",
  planned: "completed",
  missing: "skipped",
  satisfied: "skipped",
  blocked: "skipped",
  unmet: "skipped",
};

function stepNode(catalog: CatalogIndex, { id, name, type }: Step, place?: Place): StepNode {
  return {
    id,
    label: name,
    kind: type,
    status: place ? STATUS[place.name] : "completed",
    health: statusOf(catalog.health, id),
    place: place?.name,
    why: place?.why,
  };
}

function initNode(names: string[]): StepNode {
  const given = [...new Set(names)].sort().join(", ");
  return { id: INIT, label: "given", kind: "input", status: "completed", place: "init", why: given };
}

function hubNode(name: string): StepNode {
  return { id: hubId(name), label: name, kind: "attribute", status: "completed", place: "hub", why: "many providers" };
}

function gapNode(name: string): StepNode {
  return { id: gapId(name), label: name, kind: "input", status: "failed", place: "gap", why: "missing input" };
}
