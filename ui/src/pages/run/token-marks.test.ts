import { expect, test } from "vitest";
import type { GraphChange, RunGraph } from "../../api/schema";
import type { Json, View } from "../../api/types";
import { applyPatch, type Operation } from "../editor/json-patch";
import { inverseOf, revisionsOf } from "./details/changes";
import { detailsOf } from "./details/details";
import { hasTab } from "./tabs";
import { withTokens } from "./token-marks";

const token = (node: string, from: string, hop: number, parked = false) => ({
  id: `${from}${node}${hop}`,
  node,
  from,
  hop,
  loops: {},
  parked,
});
const flow = {
  counter: 3,
  revision: 2,
  wf_version: "1.0",
  path: [],
  tokens: [token("a", "", 1), token("a", "b", 3), token("merge", "user", 2, true)],
  joins: [{ node: "merge", has: ["user"], waits_for: ["orders"], tokens: 1 }],
  dead_letters: [],
  patches: [4],
};
const view = { nodes: [], edges: [], details: flow } as unknown as View;

test("tokens are drawn at their nodes, and at a join on the way they came by", () => {
  const { marks, badges } = withTokens(view);
  expect(badges?.get("a")).toEqual({ text: "2", title: "2 tokens, hops 1 and 3" });
  expect(badges?.get("merge")?.title).toBe("join has user; waits for orders");
  expect(marks?.get("user\nmerge")?.badge).toEqual({ text: "1", title: "1 token, hop 2 parked" });
  expect(withTokens({ nodes: [], edges: [] } as unknown as View)).toEqual({ nodes: [], edges: [] });
});

test("a run with tokens has its path and changes as tabs, and the rest as it is", () => {
  const details = detailsOf(view);
  expect(hasTab("path", details) && hasTab("changes", details)).toBe(true);
  expect(details.other).toBeUndefined();
  expect(hasTab("path", detailsOf({ details: { counter: 3 } }))).toBe(false);
});

const change = (seq: number, operations: Operation[]): GraphChange => ({
  seq,
  at: seq,
  kind: "patch",
  operations: operations as GraphChange["operations"],
});
const base: Json = { nodes: [{ id: "a", v: 1 }, { id: "b" }], edges: [] };
const changes = [
  change(3, [{ op: "replace", path: "/nodes/a/v", value: 2 }]),
  change(5, [{ op: "add", path: "/nodes/-", value: { id: "c" } }]),
  change(7, [{ op: "replace", path: "/nodes/a/v", value: 3 }]),
];
const graph: RunGraph = {
  revision: 4,
  base,
  definition: revisionsOf({ base, changes }).at(-1) ?? null,
  changes,
};

test("a change that others came after is undone alone", () => {
  const [, second] = graph.changes as [GraphChange, GraphChange, GraphChange];
  const { operations, conflicts } = inverseOf(graph, second);
  expect(conflicts).toEqual([]);
  expect(applyPatch(graph.definition, operations)).toEqual({ nodes: [{ id: "a", v: 3 }, { id: "b" }], edges: [] });
});

test("what was changed again since is named when the first change is undone", () => {
  const [first] = graph.changes as [GraphChange];
  const { operations, conflicts } = inverseOf(graph, first);
  expect(conflicts.map(({ pointer }) => pointer)).toEqual(["/nodes/a/v"]);
  expect(operations).toEqual([{ op: "replace", path: "/nodes/a/v", value: 1 }]);
});
