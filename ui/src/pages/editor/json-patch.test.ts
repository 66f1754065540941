// @vitest-environment node
import { expect, test } from "vitest";
import type { Json } from "../../api/types";
import { applyPatch, MOST_OPERATIONS, makePatch } from "./json-patch";

const ORDERS: Json = {
  nodes: [
    { id: "fetch", type: "task" },
    { id: "charge", type: "task", retry: { max_attempts: 3 } },
  ],
  edges: [{ from: "fetch", to: "charge" }],
};

test("a field of a node is one operation that names the node", () => {
  const after = structuredClone(ORDERS) as { nodes: { retry?: Json }[] };
  (after.nodes[1] as { retry: Json }).retry = { max_attempts: 5 };
  expect(makePatch(ORDERS, after as Json)).toEqual([
    { op: "replace", path: "/nodes/charge/retry/max_attempts", value: 5 },
  ]);
});

test("an edge more or less is one operation, not a new list", () => {
  const after: Json = {
    ...(ORDERS as object),
    edges: [
      { from: "a", to: "b" },
      { from: "fetch", to: "charge" },
    ],
  };
  expect(makePatch(ORDERS, after)).toEqual([{ op: "add", path: "/edges/0", value: { from: "a", to: "b" } }]);
  expect(makePatch(after, ORDERS)).toEqual([{ op: "remove", path: "/edges/0" }]);
});

const CASES: [string, Json, Json][] = [
  ["nothing", ORDERS, ORDERS],
  ["another order of nodes", ORDERS, { ...(ORDERS as object), nodes: [{ id: "charge" }, { id: "fetch" }] }],
  ["a name with a slash and a tilde", { "a/b~c": 1 }, { "a/b~c": 2, "~1": 3 }],
  ["ids that look like an index", { nodes: [{ id: "1" }] }, { nodes: [{ id: "2" }, { id: "1", x: 1 }] }],
  ["twice the same id", { nodes: [{ id: "a" }, { id: "a" }] }, { nodes: [{ id: "a" }, { id: "a", x: 1 }] }],
  ["another kind of value", { a: [1] }, { a: { b: 1 } }],
  ["null and absent", { a: null }, {}],
  ["the whole", [1], { a: 1 }],
  ["removed and added at once", { l: ["a", "b", "c"] }, { l: ["b", "x", "c", "y"] }],
];

test.each(CASES)("a patch makes the one into the other: %s", (_, before, after) => {
  expect(applyPatch(before, makePatch(before, after))).toEqual(after);
  expect(applyPatch(after, makePatch(after, before))).toEqual(before);
});

test("a change with more operations than the server takes replaces whole parts", () => {
  const many = (n: number): Json => ({
    name: "x",
    nodes: Array.from({ length: n }, (_, k) => ({ id: `n${k}`, v: n })),
  });
  const operations = makePatch(many(80), many(120));
  expect(operations.length).toBeLessThanOrEqual(MOST_OPERATIONS);
  expect(applyPatch(many(80), operations)).toEqual(many(120));
});

test("the operations of others are applied, too", () => {
  const operations = [
    { op: "test", path: "/nodes/fetch/type", value: "task" },
    { op: "move", from: "/nodes/fetch/type", path: "/nodes/fetch/kind" },
    { op: "copy", from: "/nodes/charge/retry", path: "/nodes/fetch/retry" },
    { op: "replace", path: "/nodes/fetch", value: { id: "fetch2" } },
    { op: "add", path: "/nodes/-", value: { id: "last" } },
  ];
  expect(applyPatch(ORDERS, operations)).toMatchObject({
    nodes: [{ id: "fetch2" }, { id: "charge" }, { id: "last" }],
  });
});

test("what is not there can't be removed, replaced or tested", () => {
  expect(() => applyPatch(ORDERS, [{ op: "remove", path: "/nodes/nobody" }])).toThrow("does not exist");
  expect(() => applyPatch(ORDERS, [{ op: "replace", path: "/x/y", value: 1 }])).toThrow("does not exist");
  expect(() => applyPatch(ORDERS, [{ op: "test", path: "/edges", value: [] }])).toThrow("another value");
});
