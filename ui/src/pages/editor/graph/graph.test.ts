// @vitest-environment node
import { describe, expect, test } from "vitest";
import type { Json } from "../../../api/types";
import { differenceOf } from "./difference";
import { cardsOf, linesOf } from "./flow";
import { partOf } from "./form-schemas";
import { addNode, connect, disconnect, removeNode, renameNode, setField } from "./operations";
import { completed, free, tidied } from "./positions";
import { nodesOf, type RouteKind, routesOf } from "./source";

/** A node's output inside a text. */
const hole = (node: string) => `$\{nodes.${node}}`;

const ORDERS: Json = {
  nodes: [
    { id: "fetch", type: "task" },
    {
      id: "size",
      type: "decision",
      branch: { rules: [{ condition: "output > 100", next_nodes: ["boss"] }], default: ["ship"] },
    },
    { id: "boss", type: "human", rejection_path: ["refuse"] },
    {
      id: "ship",
      type: "task",
      config: { to: "$nodes.fetch.address", note: `${hole("fetch")} for ${hole("fetcher")}` },
    },
    {
      id: "refuse",
      type: "task",
      loop: { condition: 'ctx["fetch"].output', max_iterations: 3, loop_back_to: "fetch" },
    },
    { id: "fetcher", type: "task" },
  ],
  edges: [
    { from: "fetch", to: "size" },
    { from: "boss", to: "ship" },
  ],
};

const ways = (graph: Json): string[] =>
  routesOf(graph).map(({ source, target, kind }) => `${source} ${kind} ${target}`);

test("every way that a token may take is drawn", () => {
  expect(ways(ORDERS)).toEqual([
    "fetch edge size",
    "boss edge ship",
    "size rule boss",
    "size default ship",
    "boss reject refuse",
    "refuse loop fetch",
  ]);
});

test.each([null, [], "x", { nodes: {} }, { nodes: [1, { id: 2 }, {}], edges: ["x", {}] }] as Json[])(
  "what is no graph is drawn as far as it goes: %j",
  (value) => {
    expect(nodesOf(value)).toEqual([]);
    expect(routesOf(value)).toEqual([]);
    expect(addNode(value, "task").id).toBe("task");
  },
);

describe("a new way", () => {
  const two: Json = {
    nodes: [
      { id: "a", type: "task" },
      { id: "b", type: "task" },
      { id: "c", type: "task" },
    ],
  };

  test("is an edge, once", () => {
    const once = connect(two, "a", "b");
    expect(connect(once, "a", "b")).toEqual(once);
    expect(ways(once)).toEqual(["a edge b"]);
  });

  test("back to where it came from, or to itself, is a loop", () => {
    const chain = connect(connect(two, "a", "b"), "b", "c");
    expect(ways(connect(chain, "c", "a"))).toContain("c loop a");
    expect(ways(connect(chain, "b", "b"))).toContain("b loop b");
  });

  test("from a decision is first the default, then a rule that needs a condition", () => {
    const decided = setField(two, "a", "type", "decision");
    const graph = connect(connect(decided, "a", "b"), "a", "c");
    expect(ways(graph)).toEqual(["a rule c", "a default b"]);
  });

  test("from the rejected side is the rejection path", () => {
    expect(ways(connect(two, "a", "b", true))).toEqual(["a reject b"]);
  });
});

test.each<[RouteKind, string]>([
  ["edge", "fetch edge size"],
  ["rule", "size rule boss"],
  ["default", "size default ship"],
  ["reject", "boss reject refuse"],
  ["loop", "refuse loop fetch"],
])("without a way of kind %s all others stay", (kind, gone) => {
  const route = routesOf(ORDERS).find((one) => one.kind === kind);
  const left = disconnect(ORDERS, route ?? { pointer: "" });
  expect(ways(left)).toEqual(ways(ORDERS).filter((way) => way !== gone));
});

test("a rule that loses its target goes with it", () => {
  const route = routesOf(ORDERS).find(({ kind }) => kind === "rule");
  const left = disconnect(ORDERS, route ?? { pointer: "" }) as { nodes: { branch?: { rules: Json[] } }[] };
  expect(left.nodes[1]?.branch?.rules).toEqual([]);
});

test("a removed node is named nowhere", () => {
  const left = removeNode(ORDERS, "ship");
  expect(JSON.stringify(left)).not.toContain('"ship"');
  expect(ways(left)).toEqual(["fetch edge size", "size rule boss", "boss reject refuse", "refuse loop fetch"]);
});

test("a renamed node is renamed in ways, templates and conditions, and others of a similar name are not", () => {
  const text = JSON.stringify(renameNode(ORDERS, "fetch", "get"));
  expect(text).toContain("$nodes.get.address");
  expect(text).toContain(`${hole("get")} for ${hole("fetcher")}`);
  expect(text).toContain('ctx[\\"get\\"].output');
  expect(text).toContain('"loop_back_to":"get"');
  expect(text).toContain('{"from":"get","to":"size"}');
  expect(text).toContain('{"id":"fetcher"');
});

test("a node that is added gets an id of its own and follows the selected one", () => {
  const { graph, id } = addNode(ORDERS, "fetch", "ship");
  expect(id).toBe("fetch_2");
  expect(ways(graph)).toContain("ship edge fetch_2");
});

test("ways between the same nodes are one line, with what each says", () => {
  const twice = connect(
    setField(ORDERS, "size", "branch", {
      rules: [
        { condition: "a", next_nodes: ["boss"] },
        { condition: "b", next_nodes: ["boss"] },
      ],
      default: [],
    }),
    "fetch",
    "ship",
  );
  const line = linesOf(twice, new Map(), undefined).find(
    ({ source, target }) => source === "size" && target === "boss",
  );
  expect(line?.data?.label).toBe("a · b");
});

test("a card says how many errors are in its node", () => {
  const problems = [
    { pointer: "/nodes/0/config", message: "x" },
    { pointer: "/nodes/0/retry", message: "y" },
    { pointer: "", message: "z" },
    { pointer: "/nodes/1", message: "w", warning: true },
  ];
  const cards = cardsOf(ORDERS, new Map(), { node: "fetch" }, problems);
  expect(cards.slice(0, 2).map(({ data }) => data.errors)).toEqual([2, 0]);
  expect(cards[0]?.selected).toBe(true);
});

test("no two nodes stand in the same place", () => {
  const at = tidied(ORDERS, { width: 1000, height: 600 });
  expect(at.size).toBe(6);
  const more = completed(addNode(addNode(ORDERS, "task", "size").graph, "task", "size").graph, at);
  const places = [...more.values()].map(({ x, y }) => `${x} ${y}`);
  expect(new Set(places).size).toBe(8);
  expect(free({ x: 0, y: 0 }, new Map([["a", { x: 10, y: 10 }]])).x).toBeGreaterThan(200);
});

test("a difference names what was added, removed and changed", () => {
  const after = connect(
    addNode(removeNode(setField(ORDERS, "fetch", "name", "Get it"), "refuse"), "wait").graph,
    "ship",
    "wait",
  );
  const { nodes, view } = differenceOf(ORDERS, after);
  expect([...nodes].map(([id, { change }]) => `${id} ${change}`)).toEqual([
    "fetch changed",
    "size same",
    "boss changed",
    "ship same",
    "fetcher same",
    "wait added",
    "refuse removed",
  ]);
  expect(view.marks?.get("ship\nwait")?.change).toBe("added");
  expect(view.marks?.get("boss\nrefuse")?.change).toBe("removed");
  expect(view.marks?.get("fetch\nsize")).toBeUndefined();
});

test("the form of a branch has conditions as text and nodes to choose from", () => {
  const defs: { [name: string]: Json } = {
    Rule: { type: "object", properties: { condition: {}, next_nodes: { type: "array", items: { type: "string" } } } },
  };
  expect(partOf(defs, "Rule", ["a", "b"])).toMatchObject({
    properties: { condition: { type: "string" }, next_nodes: { items: { enum: ["a", "b"] } } },
  });
});
