/**
 * A graph as it is being written: any JSON, perhaps no graph yet. Whatever can be read of it is drawn; the server says
 * what is wrong with the rest.
 */

import type { Json } from "../../../api/types";
import { isObject } from "../../../components/SchemaFormModel";
import { idOf } from "../json-patch";

export type Fields = { [field: string]: Json };

export interface PlacedNode {
  id: string;
  /** In the list: `/nodes/3` is its pointer. */
  index: number;
  node: Fields;
}

/** Why a token goes from one node to another. */
export type RouteKind = "edge" | "rule" | "default" | "choice" | "loop" | "break" | "timeout" | "reject";

export interface Route {
  source: string;
  target: string;
  kind: RouteKind;
  label: string;
  /** What to remove to be without it. */
  pointer: string;
}

export function fieldsOf(value: Json | undefined): Fields {
  return isObject(value) ? (value as Fields) : {};
}

export function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Those that have an id; of two with the same, the first. */
export function nodesOf(graph: Json): PlacedNode[] {
  const seen = new Set<string>();
  return listOf(fieldsOf(graph).nodes).flatMap((item, index) => {
    const id = idOf(item);
    if (id === undefined || seen.has(id)) return [];
    seen.add(id);
    return [{ id, index, node: fieldsOf(item) }];
  });
}

export function nodeOf(graph: Json, id: string | undefined): PlacedNode | undefined {
  return nodesOf(graph).find((one) => one.id === id);
}

/** Between nodes that are there, in the order in which they are written. */
export function routesOf(graph: Json): Route[] {
  const nodes = nodesOf(graph);
  const known = new Set(nodes.map(({ id }) => id));
  const all = [...edgesOf(graph), ...nodes.flatMap(routesFrom)];
  return all.filter(({ source, target }) => known.has(source) && known.has(target));
}

function edgesOf(graph: Json): Route[] {
  return listOf(fieldsOf(graph).edges).map((item, index) => {
    const { from, to, condition } = fieldsOf(item);
    return {
      source: textOf(from) ?? "",
      target: textOf(to) ?? "",
      kind: "edge",
      label: conditionText(condition),
      pointer: `/edges/${index}`,
    };
  });
}

function routesFrom({ id, index, node }: PlacedNode): Route[] {
  const at = `/nodes/${index}`;
  const to = (targets: Json | undefined, kind: RouteKind, label: string, place: string): Route[] =>
    listOf(targets).map((target, n) => ({
      source: id,
      target: textOf(target) ?? "",
      kind,
      label,
      pointer: `${at}/${place}/${n}`,
    }));
  const before = to(node.dependencies, "edge", "", "dependencies").map((route) => ({
    ...route,
    source: route.target,
    target: id,
  }));
  return [
    ...before,
    ...to(node.dependents, "edge", "", "dependents"),
    ...branchRoutes(fieldsOf(node.branch), to),
    ...loopRoutes(id, fieldsOf(node.loop), at, to),
    ...to(node.rejection_path, "reject", "rejected", "rejection_path"),
  ];
}

type To = (targets: Json | undefined, kind: RouteKind, label: string, place: string) => Route[];

function branchRoutes(branch: Fields, to: To): Route[] {
  if (branch.enabled === false) return [];
  const rules = listOf(branch.rules).flatMap((rule, n) => {
    const { condition, next_nodes } = fieldsOf(rule);
    return to(next_nodes, "rule", conditionText(condition) || "no condition", `branch/rules/${n}/next_nodes`);
  });
  return [
    ...rules,
    ...to(branch.default, "default", "else", "branch/default"),
    ...to(branch.available_next_nodes, "choice", "may choose", "branch/available_next_nodes"),
  ];
}

function loopRoutes(id: string, loop: Fields, at: string, to: To): Route[] {
  if (Object.keys(loop).length === 0 || loop.enabled === false) return [];
  const back: Route = {
    source: id,
    target: textOf(loop.loop_back_to) ?? id,
    kind: "loop",
    label: `again, ≤ ${typeof loop.max_iterations === "number" ? loop.max_iterations : "?"}×`,
    pointer: `${at}/loop`,
  };
  return [
    back,
    ...to(loop.break_path, "break", "done", "loop/break_path"),
    ...to(loop.timeout_path, "timeout", "too often", "loop/timeout_path"),
  ];
}

/** A condition in a few words. */
export function conditionText(condition: Json | undefined): string {
  if (condition === undefined || condition === null) return "";
  if (typeof condition === "string") return condition;
  const { type, expression, script } = fieldsOf(condition);
  return textOf(expression) ?? textOf(script) ?? textOf(type) ?? "condition";
}

/** Whether tokens that leave `from` may come to `to`, without going round a loop. */
export function reaches(graph: Json, from: string, to: string): boolean {
  const routes = routesOf(graph).filter(({ kind }) => kind !== "loop");
  const seen = new Set([from]);
  for (const at of seen) for (const { source, target } of routes) if (source === at) seen.add(target);
  return seen.has(to);
}
