/**
 * Where the nodes stand. That is no part of the graph: it is kept in this browser, so that moving a node makes no new
 * version. What has no place yet stands below what leads to it.
 */

import type { Json } from "../../../api/types";
import { layout, NODE, type Point, type Room } from "../../run/graph/layout";
import { buildTree } from "../../run/graph/model";
import { nodesOf, routesOf } from "./source";

export type Positions = ReadonlyMap<string, Point>;

/** Labels stand between the layers. */
const SPREAD = 1.35;
const STEP = { x: NODE.width + 40, y: NODE.height + 64 };

/** All of them anew. */
export function tidied(graph: Json, room: Room): Positions {
  const nodes = nodesOf(graph).map(({ id }) => ({ id, kind: "", label: id, status: "pending" as const }));
  const edges = routesOf(graph)
    .filter(({ kind, source, target }) => kind !== "loop" && source !== target)
    .map(({ source, target, label }) => ({ source, target, label }));
  const { boxes } = layout(buildTree({ nodes, edges, pauses: [] }, new Set()), room);
  return new Map([...boxes].map(([id, { x, y }]) => [id, { x, y: Math.round(y * SPREAD) }]));
}

/** The same object if nothing is missing. */
export function completed(graph: Json, known: Positions): Positions {
  const missing = nodesOf(graph).filter(({ id }) => !known.has(id));
  if (missing.length === 0) return known;
  const found = new Map(known);
  const routes = routesOf(graph).filter(({ kind }) => kind !== "loop");
  for (const { id } of missing) {
    const before = routes.find(({ source, target }) => target === id && found.has(source));
    const at = before && found.get(before.source);
    found.set(id, free(at ? { x: at.x, y: at.y + STEP.y } : { x: 0, y: 0 }, found));
  }
  return found;
}

/** The place itself, or the next one beside it that nothing covers. */
export function free(wanted: Point, taken: Positions): Point {
  const at = { ...wanted };
  const covered = () =>
    [...taken.values()].some(
      ({ x, y }) => Math.abs(x - at.x) < NODE.width + 16 && Math.abs(y - at.y) < NODE.height + 16,
    );
  while (covered()) at.x += STEP.x;
  return at;
}

export function renamed(known: Positions, from: string, to: string): Positions {
  return new Map([...known].map(([id, at]) => [id === from ? to : id, at]));
}

const KEY = "plait.positions.";

export function remembered(name: string): Positions {
  try {
    const found = JSON.parse(localStorage.getItem(KEY + name) ?? "{}") as { [id: string]: Point };
    return new Map(Object.entries(found).filter(([, at]) => Number.isFinite(at?.x) && Number.isFinite(at?.y)));
  } catch {
    return new Map(); // Blocked, or written by another version.
  }
}

export function remember(name: string, positions: Positions): void {
  try {
    localStorage.setItem(KEY + name, JSON.stringify(Object.fromEntries(positions)));
  } catch {
    // Full or blocked: they are laid out anew next time.
  }
}
