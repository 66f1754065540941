/** The graph as what the canvas takes: cards where they stand, and one line for all ways between two of them. */

import type { Edge as FlowEdge, Node as FlowNode } from "@xyflow/react";
import type { Json } from "../../../api/types";
import { groupBy } from "../../../components/group-by";
import { NODE } from "../../run/graph/layout";
import { itemOf, type Problem } from "../problems";
import type { Positions } from "./positions";
import { fieldsOf, nodesOf, type PlacedNode, type Route, routesOf, textOf } from "./source";

export interface CardData extends Record<string, unknown> {
  id: string;
  label: string;
  type: string;
  /** What it does beside its work: "loop ×3", "branch". */
  traits: string[];
  errors: number;
  rejects: boolean;
}
export type CardNode = FlowNode<CardData, "card">;

export interface RouteData extends Record<string, unknown> {
  label: string;
  /** Of a way back: how far right it runs, to pass what stands between. */
  beside: number | undefined;
  dashed: boolean;
}
export type RouteEdge = FlowEdge<RouteData, "route">;

export type Selection = { node: string } | { route: string } | undefined;

export function cardsOf(graph: Json, at: Positions, selection: Selection, problems: readonly Problem[]): CardNode[] {
  const wrong = groupBy(
    problems.filter(({ warning }) => !warning),
    ({ pointer }) => itemOf(graph, "nodes", pointer) ?? "",
  );
  return nodesOf(graph).map((placed) => {
    const { id, node } = placed;
    const data: CardData = {
      id,
      label: textOf(node.name) || id,
      type: textOf(node.type) ?? "?",
      traits: traitsOf(placed),
      errors: wrong.get(id)?.length ?? 0,
      rejects: node.type === "human" || node.type === "hitl" || Array.isArray(node.rejection_path),
    };
    return {
      id,
      type: "card",
      position: at.get(id) ?? { x: 0, y: 0 },
      ...NODE,
      measured: NODE,
      data,
      selected: selection !== undefined && "node" in selection && selection.node === id,
      ariaLabel: [data.label, data.type, ...data.traits, ...(data.errors ? [`${data.errors} errors`] : [])].join(", "),
    };
  });
}

function traitsOf({ node }: PlacedNode): string[] {
  const loop = fieldsOf(node.loop);
  const branch = fieldsOf(node.branch);
  const found: string[] = [];
  if (node.loop && loop.enabled !== false) found.push(`loop ×${String(loop.max_iterations ?? "?")}`);
  if (node.branch && branch.enabled !== false) found.push("branch");
  if (node.retry) found.push("retry");
  if (fieldsOf(node.capabilities).requires_approval === true) found.push("needs approval");
  return found;
}

export function routeKey({ source, target, kind }: Route): string {
  return `${source}\n${target}${kind === "loop" ? "\nloop" : ""}`;
}

/** The right end of what stands between the two, and of both. */
function besides(at: Positions, { source, target }: Route): number {
  const heights = [at.get(source)?.y ?? 0, at.get(target)?.y ?? 0];
  const [top, low] = [Math.min(...heights), Math.max(...heights)];
  const between = [...at.values()].filter(({ y }) => y >= top && y <= low);
  return Math.max(...between.map(({ x }) => x + NODE.width), 0);
}

export function linesOf(graph: Json, at: Positions, selection: Selection): RouteEdge[] {
  return [...groupBy(routesOf(graph), routeKey)].map(([key, routes]) => {
    const [first] = routes as [Route, ...Route[]];
    const back = first.kind === "loop";
    const selected = selection !== undefined && "route" in selection && selection.route === key;
    return {
      id: key,
      type: "route",
      source: first.source,
      target: first.target,
      sourceHandle: routes.every(({ kind }) => kind === "reject") ? "reject" : "out",
      targetHandle: "in",
      selected,
      data: {
        label: [...new Set(routes.map(({ label }) => label).filter(Boolean))].join(" · "),
        beside: back ? besides(at, first) : undefined,
        dashed: routes.every(({ kind }) => kind !== "edge" && kind !== "loop"),
      },
      ariaLabel: `From ${first.source} to ${first.target}`,
    };
  });
}
