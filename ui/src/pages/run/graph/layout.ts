/**
 * Where everything stands. Each scope is laid out by itself, innermost first, and then is one box in the scope around
 * it. Two shapes that a layered layout draws badly are done by hand: nodes without edges become a grid, and a long row
 * is broken into lines like text.
 */

import { layout as dagre, Graph } from "@dagrejs/dagre";
import { clusters } from "./clusters";
import { layers } from "./layers";
import type { Item, Scope } from "./model";

export type Direction = "LR" | "TB";
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  depth: number;
  scope: boolean;
}
export interface Line {
  source: string;
  target: string;
  label?: string;
  depth: number;
  /** Of a row that wraps to the next line: the height at which the edge runs back. */
  bend?: number;
  /** Where it goes between the boxes of the layers that it crosses. */
  via?: Point[];
}
export interface Point {
  x: number;
  y: number;
}
export interface Layout {
  boxes: Map<string, Box>;
  lines: Line[];
  width: number;
  height: number;
  direction: Direction;
}

export const NODE = { width: 200, height: 52 };
const GAP = 24;
const RANK_GAP = 48;
/** About the width of a letter of a label, and the room around it. */
const LETTER = 6;
const LABEL_ROOM = 28;
/** Longer labels are cut. */
const LABEL = 24;
const LINE_GAP = 32;
const PACK_GAP = 40;
const PADDING = 16;
const HEAD = 36;
/** Line widths to try for rows that may be broken. */
const WIDTHS = [2600, 1700, 1100];
/** Beyond this many nodes one way of laying them out must do. */
const SEVERAL = 60;
/** Beyond this many in one scope the thorough layout takes too long. */
const MANY = 100;
/** At this size another way is not worth looking for. */
const LARGE = 0.9;

export interface Placed {
  places: Map<string, Point>;
  vias?: Map<string, Point[]>;
  /** Where lines are broken: the top of each one's line. */
  lineTops?: Map<string, number>;
  width: number;
  height: number;
}
export interface Sized {
  id: string;
  width: number;
  height: number;
  /** Of a scope: its inside. */
  inside?: Inside;
}
export interface Inside extends Placed {
  items: Sized[];
  scope: Scope;
}

export interface Room {
  width: number;
  height: number;
}

interface Plan {
  direction: Direction;
  /** Of the room: its width for each of its height. */
  aspect: number;
  /** Rows wider than this are broken into lines. */
  line: number;
}

/** Of several ways the one that can be shown largest; the first of equals. Below the zoom `least` nothing is readable. */
export function layout(root: Scope, room: Room, least = 0.5): Layout {
  const plans = count(root) > SEVERAL ? [quick(room, least)] : plansFor(room);
  let best: Layout | undefined;
  let size = 0;
  for (const plan of plans) {
    const made = arranged(root, plan);
    const fits = Math.min(room.width / made.width, room.height / made.height, 1);
    // A little more size is not worth the bends.
    if (best && fits < size * 1.15) continue;
    best = made;
    size = fits;
    if (size >= LARGE) break;
  }
  return best ?? arranged(root, quick(room, least));
}

function plansFor(room: Room): Plan[] {
  const aspect = room.width / Math.max(room.height, 1);
  const across: Plan[] = [Number.POSITIVE_INFINITY, ...WIDTHS].map((line) => ({ direction: "LR", aspect, line }));
  const down: Plan = { direction: "TB", aspect, line: Number.POSITIVE_INFINITY };
  return room.width > room.height ? [...across, down] : [down, ...across];
}

/** As wide as fits when it is just readable; what is left over is below, where people scroll. */
function quick(room: Room, least: number): Plan {
  const aspect = room.width / Math.max(room.height, 1);
  return { direction: "LR", aspect, line: Math.max(room.width - 64, 320) / least };
}

function count(scope: Scope): number {
  return scope.children.reduce((sum, child) => sum + 1 + (child.scope ? count(child.scope) : 0), 0);
}

function arranged(root: Scope, plan: Plan): Layout {
  const top = arrange(root, plan);
  const boxes = new Map<string, Box>();
  const lines: Line[] = [];
  const put = ({ places, items, scope, lineTops, vias }: Inside, x: number, y: number, depth: number) => {
    for (const { id, width, height, inside } of items) {
      const at = places.get(id) ?? { x: 0, y: 0 };
      const box = { x: x + at.x, y: y + at.y, width, height, depth, scope: inside !== undefined };
      boxes.set(id, box);
      if (inside) put(inside, box.x + PADDING, box.y + HEAD, depth + 1);
    }
    for (const edge of scope.edges) {
      const top = lineTops?.get(edge.target);
      const broken = top !== undefined && top !== lineTops?.get(edge.source);
      const via = vias?.get(edgeKey(edge))?.map((point) => ({ x: x + point.x, y: y + point.y }));
      lines.push({ ...edge, depth, bend: broken ? y + top - LINE_GAP / 2 : undefined, via });
    }
  };
  put(top, 0, 0, 0);
  return { boxes, lines, width: top.width, height: top.height, direction: plan.direction };
}

function arrange(scope: Scope, plan: Plan): Inside {
  const within = scope.id === undefined ? plan : { ...plan, line: plan.line - 2 * PADDING };
  const items = scope.children.map((child) => sized(child, within));
  return { ...place(items, scope, within), items, scope };
}

function sized(item: Item, plan: Plan): Sized {
  if (!item.scope) return { id: item.id, ...NODE };
  const inside = arrange(item.scope, plan);
  const width = Math.max(inside.width + 2 * PADDING, NODE.width);
  return { id: item.id, width, height: inside.height + HEAD + PADDING, inside };
}

function place(items: Sized[], scope: Scope, plan: Plan): Placed {
  if (scope.edges.length === 0) return grid(items, GAP, GAP, Math.min(plan.line, squarish(items)));
  const [first, ...others] = clusters(items, scope);
  if (!first || others.length === 0) return placeOne(items, scope, plan);
  return packed(
    [first, ...others].map((cluster) => placeOne(cluster.items, cluster.scope, plan)),
    plan,
  );
}

/** Where all hangs together, or nothing does. */
function placeOne(items: Sized[], scope: Scope, { direction, line }: Plan): Placed {
  if (scope.edges.length === 0) return grid(items, GAP, GAP, Math.min(line, squarish(items)));
  if (direction === "LR" && line !== Number.POSITIVE_INFINITY) {
    const row = asRow(items, scope);
    if (row) return grid(row, rankGap(scope, direction), LINE_GAP, line);
  }
  return items.length > MANY ? layered(items, scope, direction) : ranked(items, scope, direction);
}

/** Side by side and one below the other, in about the shape of the room. */
function packed(parts: Placed[], plan: Plan): Placed {
  const boxes = parts.map(({ width, height }, index) => ({ id: String(index), width, height }));
  const widest = Math.max(...boxes.map(({ width }) => width));
  const around = grid(boxes, PACK_GAP, PACK_GAP, Math.max(widest, Math.min(plan.line, squarish(boxes, plan.aspect))));
  const places = new Map<string, Point>();
  const vias = new Map<string, Point[]>();
  const lineTops = new Map<string, number>();
  for (const [index, part] of parts.entries()) {
    const { x, y } = centred(around, String(index), boxes);
    const moved = (point: Point) => ({ x: x + point.x, y: y + point.y });
    for (const [id, point] of part.places) places.set(id, moved(point));
    for (const [key, points] of part.vias ?? []) vias.set(key, points.map(moved));
    for (const [id, top] of part.lineTops ?? []) lineTops.set(id, y + top);
  }
  return { places, vias, lineTops, width: around.width, height: around.height };
}

/** The place of a box when its line stands in the middle. */
function centred({ places, lineTops, width }: Placed, id: string, boxes: Sized[]): Point {
  const { x, y } = places.get(id) ?? { x: 0, y: 0 };
  const line = boxes.filter((box) => lineTops?.get(box.id) === lineTops?.get(id));
  const ends = line.map((box) => (places.get(box.id)?.x ?? 0) + box.width);
  return { x: x + Math.round((width - Math.max(...ends)) / 2), y };
}

/** The room between two layers: what the longest label on the way needs. */
function rankGap(scope: Scope, direction: Direction): number {
  if (direction === "TB") return RANK_GAP;
  const longest = Math.max(0, ...scope.edges.map(({ label }) => shortLabel(label ?? "").length));
  return longest === 0 ? RANK_GAP : Math.max(RANK_GAP, longest * LETTER + LABEL_ROOM);
}

export function shortLabel(label: string): string {
  return label.length > LABEL ? `${label.slice(0, LABEL - 1)}…` : label;
}

/** The width at which boxes fill so much more in width than in height. */
function squarish(items: Sized[], aspect = 2): number {
  const area = items.reduce((sum, item) => sum + (item.width + GAP) * (item.height + GAP), 0);
  return Math.sqrt(area * aspect);
}

/** Left to right, line by line, each as wide as `line` and centred on its tallest. */
function grid(items: Sized[], gapX: number, gapY: number, line: number): Placed {
  const places = new Map<string, Point>();
  const lineTops = new Map<string, number>();
  let width = 0;
  let y = 0;
  for (const row of broken(items, gapX, line)) {
    const tallest = Math.max(...row.map((item) => item.height));
    let x = 0;
    for (const item of row) {
      places.set(item.id, { x, y: y + Math.round((tallest - item.height) / 2) });
      lineTops.set(item.id, y);
      x += item.width + gapX;
    }
    width = Math.max(width, x - gapX);
    y += tallest + gapY;
  }
  return { places, lineTops, width, height: Math.max(y - gapY, 0) };
}

function broken(items: Sized[], gap: number, line: number): Sized[][] {
  const rows: Sized[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (const item of items) {
    if (used + item.width > line) {
      rows.push([]);
      used = 0;
    }
    rows.at(-1)?.push(item);
    used += item.width + gap;
  }
  return rows;
}

/** The items in order, if the edges make one unbranched row of all of them. */
function asRow(items: Sized[], scope: Scope): Sized[] | undefined {
  if (scope.edges.length !== items.length - 1) return undefined;
  const next = new Map(scope.edges.map((edge) => [edge.source, edge.target]));
  const targets = new Set(scope.edges.map((edge) => edge.target));
  if (next.size !== scope.edges.length || targets.size !== scope.edges.length) return undefined;
  const byId = new Map(items.map((item) => [item.id, item]));
  const row: Sized[] = [];
  let at = items.find((item) => !targets.has(item.id));
  while (at && row.length <= items.length) {
    row.push(at);
    at = byId.get(next.get(at.id) ?? "");
  }
  return row.length === items.length ? row : undefined;
}

function ranked(items: Sized[], scope: Scope, direction: Direction): Placed {
  const graph = new Graph();
  graph.setGraph({
    rankdir: direction,
    nodesep: GAP,
    ranksep: rankGap(scope, direction),
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of items) graph.setNode(id, { width, height });
  for (const { source, target } of scope.edges) graph.setEdge(source, target);
  dagre(graph);
  const places = new Map<string, Point>();
  for (const { id, width, height } of items) {
    const at = graph.node(id) as Point;
    places.set(id, { x: at.x - width / 2, y: at.y - height / 2 });
  }
  return framed(items, places, viasOf(graph, scope));
}

/** Moved so that everything, edges too, begins at zero. Whole pixels: sharper text, and sizes measured as the same. */
function framed(items: Sized[], places: Map<string, Point>, vias: Map<string, Point[]>): Placed {
  const ends = items.map((item) => {
    const { x, y } = places.get(item.id) ?? { x: 0, y: 0 };
    return { x: x + item.width, y: y + item.height };
  });
  const all = [...places.values(), ...ends, ...[...vias.values()].flat()];
  const left = Math.min(...all.map((point) => point.x));
  const top = Math.min(...all.map((point) => point.y));
  const moved = ({ x, y }: Point) => ({ x: Math.round(x - left), y: Math.round(y - top) });
  return {
    places: new Map([...places].map(([id, point]) => [id, moved(point)])),
    vias: new Map([...vias].map(([key, points]) => [key, points.map(moved)])),
    width: Math.ceil(Math.max(...all.map((point) => point.x)) - left),
    height: Math.ceil(Math.max(...all.map((point) => point.y)) - top),
  };
}

/** Only edges that cross a layer need their way; the others are one curve. */
function viasOf(graph: Graph, scope: Scope): Map<string, Point[]> {
  const found = new Map<string, Point[]>();
  for (const edge of scope.edges) {
    const { points = [] } = graph.edge(edge.source, edge.target) as { points?: Point[] };
    if (points.length > 3) found.set(edgeKey(edge), points.slice(1, -1));
  }
  return found;
}

function edgeKey({ source, target }: { source: string; target: string }): string {
  return `${source}\n${target}`;
}

/** A layer after the other; each is centred, and a layer that would be very long gets several lines. */
function layered(items: Sized[], scope: Scope, direction: Direction): Placed {
  const byId = new Map(items.map((item) => [item.id, item]));
  const ids = items.map((item) => item.id);
  const blocks = layers(ids, scope.edges).map((layer) => {
    const members = layer.flatMap((id) => byId.get(id) ?? []);
    return grid(members, GAP, GAP, direction === "LR" ? squarish(members) / 2 : squarish(members) * 2);
  });
  const across = direction === "LR";
  const tallest = Math.max(...blocks.map((block) => (across ? block.height : block.width)));
  const places = new Map<string, Point>();
  const gap = rankGap(scope, direction);
  let along = 0;
  for (const block of blocks) {
    const aside = Math.round((tallest - (across ? block.height : block.width)) / 2);
    for (const [id, { x, y }] of block.places) {
      places.set(id, across ? { x: along + x, y: aside + y } : { x: aside + x, y: along + y });
    }
    along += (across ? block.width : block.height) + gap;
  }
  along -= gap;
  return { places, width: across ? along : tallest, height: across ? tallest : along };
}
