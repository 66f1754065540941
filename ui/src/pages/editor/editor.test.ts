// @vitest-environment node
import { expect, test } from "vitest";
import type { Json } from "../../api/types";
import { begin, change, redo, undo } from "./history";
import { merge } from "./merge";
import { aimedAtField, below, itemOf } from "./problems";

test("what is undone can be redone, until something else is changed", () => {
  const two = change(change(begin(0), 1), 2);
  expect(undo(two).now).toBe(1);
  expect(redo(undo(two)).now).toBe(2);
  expect(redo(change(undo(two), 3)).now).toBe(3);
  expect(undo(undo(undo(two))).now).toBe(0);
});

test("typing in one field is undone at once, in two fields one after the other", () => {
  const typed = ["a", "ab", "abc"].reduce((history, text) => change(history, text, "name"), begin(""));
  expect(undo(typed).now).toBe("");
  const both = change(typed, "abc!", "title");
  expect(undo(both).now).toBe("abc");
});

const BASE: Json = { nodes: [{ id: "a", x: 1 }, { id: "b" }], edges: [{ from: "a", to: "b" }], name: "n" };

test("changes of different nodes and edges go together", () => {
  const mine: Json = { ...(BASE as object), nodes: [{ id: "a", x: 2 }, { id: "b" }, { id: "c" }] };
  const theirs: Json = {
    ...(BASE as object),
    nodes: [{ id: "a", x: 1 }, { id: "b", y: 1 }, { id: "d" }],
    edges: [
      { from: "a", to: "b" },
      { from: "b", to: "d" },
    ],
  };
  const { value, conflicts } = merge(BASE, mine, theirs);
  expect(conflicts).toEqual([]);
  expect(value).toEqual({
    name: "n",
    nodes: [{ id: "a", x: 2 }, { id: "b", y: 1 }, { id: "c" }, { id: "d" }],
    edges: [
      { from: "a", to: "b" },
      { from: "b", to: "d" },
    ],
  });
});

test("of what both changed mine is taken, and it is named", () => {
  const { value, conflicts } = merge(
    BASE,
    { ...(BASE as object), name: "mine" },
    { ...(BASE as object), name: "theirs" },
  );
  expect(value).toMatchObject({ name: "mine" });
  expect(conflicts).toEqual([{ pointer: "/name", mine: "mine", theirs: "theirs" }]);
});

test("a node that I removed and they changed is a conflict", () => {
  const mine: Json = { ...(BASE as object), nodes: [{ id: "b" }] };
  const theirs: Json = { ...(BASE as object), nodes: [{ id: "a", x: 9 }, { id: "b" }] };
  const { value, conflicts } = merge(BASE, mine, theirs);
  expect((value as { nodes: Json[] }).nodes).toEqual([{ id: "b" }]);
  expect(conflicts.map(({ pointer }) => pointer)).toEqual(["/nodes/a"]);
});

test("two who changed the same rule are told, and mine is kept", () => {
  const rules = (condition: string): Json => ({ rules: [{ condition, next_nodes: ["a"] }] });
  const { value, conflicts } = merge(rules("x > 1"), rules("x > 2"), rules("x > 3"));
  expect(value).toEqual(rules("x > 2"));
  expect(conflicts.map(({ pointer }) => pointer)).toEqual(["/rules/0/condition"]);
});

test("an edge that one removed stays removed", () => {
  expect(merge(BASE, { ...(BASE as object), edges: [] }, { ...(BASE as object), name: "x" }).value).toMatchObject({
    edges: [],
    name: "x",
  });
});

test("a problem is told at its node, whether the server names it by index or id", () => {
  expect(itemOf(BASE, "nodes", "/nodes/1/config/url")).toBe("b");
  expect(itemOf(BASE, "nodes", "/nodes/a")).toBe("a");
  expect(itemOf(BASE, "nodes", "/edges/0")).toBeUndefined();
  expect(itemOf(BASE, "nodes", "/nodes/7")).toBeUndefined();
});

test("a problem is told at its field, also one that is missing", () => {
  const problems = [
    { pointer: "/nodes/1/config", message: "`b`: config.url is required by type `http`" },
    { pointer: "/nodes/10/config", message: "of another node" },
  ];
  const [own, ...others] = below(problems, "/nodes/1");
  expect(others).toEqual([]);
  expect(own && aimedAtField(own).pointer).toBe("/config/url");
});
