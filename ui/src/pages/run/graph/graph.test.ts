import { expect, test } from "vitest";
import type { Edge, Node, NodeStatus } from "../../../api/types";
import { nearest } from "./arrow-keys";
import { bringIn } from "./camera";
import { clusters } from "./clusters";
import { looksOf } from "./Edges";
import { labelPlaces } from "./labels";
import { layers } from "./layers";
import { type Box, layout } from "./layout";
import { buildTree, FOLD_ABOVE, foldedByDefault, structureKey, tally } from "./model";
import { edgePath } from "./path";

const node = (id: string, parent?: string, status: NodeStatus = "completed"): Node => ({
  id,
  parent,
  status,
  kind: "step",
  label: id,
});
const edge = (source: string, target: string): Edge => ({ source, target });
const room = { width: 1200, height: 700 };
const none = new Set<string>();

function numbered(count: number, parent?: string): Node[] {
  return Array.from({ length: count }, (_, index) => node(`${parent ?? "n"}${index}`, parent));
}
function row(nodes: Node[]): Edge[] {
  return nodes.slice(1).map((one, index) => edge(nodes[index]?.id ?? "", one.id));
}
function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

test("an edge into a scope becomes one edge to the scope", () => {
  const nodes = [node("a"), node("scope"), node("x", "scope"), node("y", "scope")];
  const tree = buildTree({ nodes, edges: [edge("a", "x"), edge("a", "y"), edge("x", "y")] }, none);
  expect(tree.edges).toEqual([{ source: "a", target: "scope", label: undefined }]);
  expect(tree.children[1]?.scope?.edges).toEqual([{ source: "x", target: "y", label: undefined }]);
});

test("an edge from a scope to what is inside of it is not drawn", () => {
  const nodes = [node("scope"), node("x", "scope")];
  expect(buildTree({ nodes, edges: [edge("scope", "x")] }, none).edges).toEqual([]);
});

test("edges between the same two nodes are one, which says what all of them say", () => {
  const nodes = [node("a"), node("b")];
  const labels = ["x", "y", "x", undefined];
  const edges = labels.map((label) => ({ ...edge("a", "b"), label }));
  expect(buildTree({ nodes, edges }, none).edges).toEqual([{ source: "a", target: "b", label: "x, y" }]);
});

test("a folded scope is one node, and the edges inside are gone", () => {
  const nodes = [node("a"), node("scope"), node("x", "scope"), node("y", "scope")];
  const tree = buildTree({ nodes, edges: [edge("x", "y"), edge("a", "x")] }, new Set(["scope"]));
  expect(tree.children).toEqual([{ id: "a" }, { id: "scope" }]);
  expect(tree.edges).toHaveLength(1);
});

test("only scopes with many children start folded", () => {
  const nodes = [node("big"), ...numbered(FOLD_ABOVE + 1, "big"), node("small"), ...numbered(FOLD_ABOVE, "small")];
  expect([...foldedByDefault({ nodes })]).toEqual(["big"]);
});

test("a parent that does not exist, or is the node itself, puts it at the top", () => {
  const tree = buildTree({ nodes: [node("a", "nowhere"), node("b", "b")], edges: [edge("a", "b")] }, none);
  expect(tree.children.map((one) => one.id)).toEqual(["a", "b"]);
  expect(tree.edges).toHaveLength(1);
});

test("statuses change nothing about the structure, folds and edges do", () => {
  const before = { nodes: [node("a"), node("b")], edges: [edge("a", "b")] };
  const later = { nodes: [node("a", undefined, "failed"), node("b")], edges: [edge("a", "b")] };
  expect(structureKey(later, none)).toBe(structureKey(before, none));
  expect(structureKey({ ...before, edges: [] }, none)).not.toBe(structureKey(before, none));
  expect(structureKey(before, new Set(["a"]))).not.toBe(structureKey(before, none));
});

test("a folded scope counts the statuses of what is inside", () => {
  const nodes = [node("s"), node("x", "s"), node("y", "s", "failed"), node("z", "s")];
  expect(tally({ nodes }).get("s")).toEqual({ completed: 2, failed: 1 });
});

test.each([
  ["a row", () => ({ nodes: numbered(40), edges: row(numbered(40)) })],
  ["no edges", () => ({ nodes: numbered(40), edges: [] })],
  [
    "a diamond",
    () => ({ nodes: numbered(4), edges: [edge("n0", "n1"), edge("n0", "n2"), edge("n1", "n3"), edge("n2", "n3")] }),
  ],
  [
    "a wide tree",
    () => ({
      nodes: numbered(200),
      edges: numbered(200)
        .slice(1)
        .map((one, index) => edge(`n${index >> 2}`, one.id)),
    }),
  ],
  ["several parts", () => ({ nodes: numbered(12), edges: [edge("n0", "n1"), edge("n1", "n2"), edge("n5", "n6")] })],
  ["a cycle", () => ({ nodes: numbered(3), edges: [edge("n0", "n1"), edge("n1", "n2"), edge("n2", "n0")] })],
  [
    "nested scopes",
    () => ({
      nodes: [node("a"), node("s"), node("t", "s"), ...numbered(5, "t"), node("z", "s")],
      edges: [edge("a", "t0"), ...row(numbered(5, "t")), edge("t4", "z")],
    }),
  ],
])("%s is laid out without siblings on top of each other, and inside its scope", (_, make) => {
  const view = make();
  const { boxes } = layout(buildTree(view, none), room);
  expect(boxes.size).toBe(view.nodes.length);
  const parents = new Map(view.nodes.map((one) => [one.id, one.parent]));
  const all = [...boxes];
  for (const [id, box] of all) {
    for (const [other, there] of all) {
      if (id < other && parents.get(id) === parents.get(other))
        expect(overlap(box, there), `${id} on ${other}`).toBe(false);
    }
    const around = boxes.get(parents.get(id) ?? "");
    if (!around) continue;
    expect(box.x >= around.x && box.x + box.width <= around.x + around.width).toBe(true);
    expect(box.y >= around.y && box.y + box.height <= around.y + around.height).toBe(true);
  }
});

test("what hangs together stands together, and what hangs on nothing comes last", () => {
  const nodes = numbered(7);
  const tree = buildTree({ nodes, edges: [edge("n0", "n6"), edge("n1", "n2"), edge("n2", "n3")] }, none);
  expect(clusters(tree.children, tree).map(({ items }) => items.map(({ id }) => id))).toEqual([
    ["n1", "n2", "n3"],
    ["n0", "n6"],
    ["n4", "n5"],
  ]);
});

test("layers are so far apart that the labels between them can be read", () => {
  const nodes = [node("a"), node("b")];
  const gap = (label: string) => {
    const { boxes } = layout(buildTree({ nodes, edges: [{ ...edge("a", "b"), label }] }, none), room);
    return (boxes.get("b")?.x ?? 0) - (boxes.get("a")?.x ?? 0) - (boxes.get("a")?.width ?? 0);
  };
  expect(gap("customer_address")).toBeGreaterThan(16 * 6);
  expect(gap("x".repeat(500))).toBeLessThan(200);
  expect(gap("")).toBe(48);
});

test("a long row is broken into lines that fit the room better", () => {
  const nodes = numbered(40);
  const made = layout(buildTree({ nodes, edges: row(nodes) }, none), room);
  expect(made.width).toBeLessThan(4000);
  expect(made.lines.some((line) => line.bend !== undefined)).toBe(true);
});

test("five hundred nodes of a tangled graph are laid out while nobody waits", () => {
  const nodes = numbered(500);
  const edges = nodes
    .slice(1)
    .flatMap((one, index) => [edge(`n${index >> 1}`, one.id), edge(`n${(index * 7) % (index + 1)}`, one.id)]);
  const before = performance.now();
  layout(buildTree({ nodes, edges }, none), room);
  expect(performance.now() - before).toBeLessThan(1000);
});

test("layers follow the edges, near what came before, and cycles do no harm", () => {
  const ids = ["a", "b", "c", "d", "e"];
  const edges = [edge("a", "c"), edge("b", "d"), edge("c", "e"), edge("d", "e"), edge("e", "a")];
  expect(layers(ids, edges)).toEqual([["a", "b"], ["c", "d"], ["e"]]);
});

test("a row of ten thousand overflows no stack", () => {
  const nodes = numbered(10_000);
  expect(
    layers(
      nodes.map((one) => one.id),
      row(nodes),
    ),
  ).toHaveLength(10_000);
});

test("the nearest node in a direction is taken, straight ahead before aside", () => {
  const at = (x: number, y: number): Box => ({ x, y, width: 10, height: 10, depth: 0, scope: false });
  const boxes = new Map([
    ["a", at(0, 0)],
    ["right", at(100, 0)],
    ["aside", at(60, 80)],
    ["below", at(0, 100)],
  ]);
  expect(nearest(boxes, "a", "ArrowRight")).toBe("right");
  expect(nearest(boxes, "a", "ArrowDown")).toBe("below");
  expect(nearest(boxes, "a", "ArrowLeft")).toBeUndefined();
  expect(nearest(boxes, undefined, "ArrowRight")).toBe("a");
});

test("a selected node is brought into view by the least move", () => {
  const box: Box = { x: 900, y: 100, width: 200, height: 50, depth: 0, scope: false };
  const seen = { x: 0, y: 0, zoom: 1 };
  expect(bringIn({ ...box, x: 100 }, seen, room)).toBe(seen);
  expect(bringIn(box, seen, { width: 640, height: 500 })).toEqual({ x: 640 - 24 - 1100, y: 0, zoom: 1 });
  expect(bringIn({ ...box, x: -300 }, seen, room)).toEqual({ x: 324, y: 0, zoom: 1 });
  expect(bringIn(box, { x: 0, y: 0, zoom: 0.1 }, room).zoom).toBe(0.4);
});

test("of several that bring the same, the first is marked and the others are dashed", () => {
  const nodes = [node("a"), node("b"), node("c"), node("z"), node("idle", undefined, "skipped")];
  const edges = [
    { ...edge("a", "z"), label: "items", chosen: true },
    { ...edge("b", "z"), label: "items" },
    { ...edge("c", "z"), label: "items" },
    { ...edge("c", "z"), label: "more" },
    edge("idle", "z"),
  ];
  const { lines } = layout(buildTree({ nodes, edges }, none), room);
  const looks = [...looksOf({ nodes, edges }, lines)].map(([{ source }, look]) => [source, look]);
  expect(Object.fromEntries(looks)).toEqual({ a: "won", b: "ahead", c: "past", idle: "ahead" });
});

test("labels that would stand on each other are moved apart, and equal ones are one", () => {
  const box = (x: number, y: number): Box => ({ x, y, width: 100, height: 50, depth: 0, scope: false });
  const boxes = new Map([
    ["a", box(0, 0)],
    ["b", box(300, 0)],
    ["c", box(0, 4)],
    ["d", box(300, 4)],
  ]);
  const line = (source: string, target: string, label: string) => ({ source, target, label, depth: 0 });
  const places = (label: string) => {
    const lines = [line("a", "b", "items"), line("c", "d", label)];
    return [...labelPlaces({ boxes, lines, width: 400, height: 60, direction: "LR" }).values()].map(({ y }) => y);
  };
  expect(places("items")).toHaveLength(1);
  const [first = 0, second = 0] = places("total");
  expect(second - first).toBeGreaterThanOrEqual(14);
});

test("an edge ends just before its target", () => {
  const from = { x: 0, y: 0, width: 100, height: 50 };
  const to = { x: 200, y: 100, width: 100, height: 50 };
  expect(edgePath(from, to, true).path).toMatch(/^M100,25 .* 198,125$/);
  expect(edgePath(from, to, false).path).toMatch(/^M50,50 .* 250,98$/);
});
