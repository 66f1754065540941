// @vitest-environment node
import { describe, expect, test } from "vitest";
import { changesOf, diff, groupsOf, summaryOf } from "./JsonDiffModel";

const changes = (a: unknown, b: unknown): unknown => changesOf(diff(a, b));

describe("diff", () => {
  test("equal values have no changes, whatever the order of keys", () => {
    expect(diff({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }).change).toBe("same");
  });

  test("names each change by its JSON pointer", () => {
    expect(changes({ a: 1, gone: true, deep: { x: 1 } }, { a: 2, deep: { x: 1, y: null } })).toEqual([
      { path: "/a", kind: "changed", a: 1, b: 2 },
      { path: "/gone", kind: "removed", a: true },
      { path: "/deep/y", kind: "added", b: null },
    ]);
  });

  test("escapes slashes and tildes in pointers", () => {
    expect(changes({ "a/b~c": 1 }, { "a/b~c": 2 })).toEqual([{ path: "/a~1b~0c", kind: "changed", a: 1, b: 2 }]);
  });

  test("a different kind of value is one change at its place", () => {
    expect(changes({ a: [1] }, { a: { 0: 1 } })).toEqual([{ path: "/a", kind: "changed", a: [1], b: { 0: 1 } }]);
    expect(changes(1, "1")).toEqual([{ path: "", kind: "changed", a: 1, b: "1" }]);
    expect(changes(null, undefined)).toEqual([{ path: "", kind: "changed", a: null, b: undefined }]);
  });

  test("an item put in front of a list is one addition, and the others tell where they were", () => {
    const node = diff(["b", "c"], ["a", "b", "c"]);
    expect(changesOf(node)).toEqual([{ path: "/0", kind: "added", b: "a" }]);
    expect(node.children?.[1]).toMatchObject({ key: "1", from: "0", change: "same" });
  });

  test("a changed object in a list is compared inside", () => {
    expect(changes([{ id: 1, n: 1 }, { id: 2 }], [{ id: 1, n: 2 }, { id: 2 }])).toEqual([
      { path: "/0/n", kind: "changed", a: 1, b: 2 },
    ]);
  });

  test("tells 1 from true, from text and from null in lists", () => {
    expect(changesOf(diff([1, "1", true, null], [true, "1", 1, "null"]))).not.toEqual([]);
    expect(diff([null], ["null"]).change).toBe("inside");
  });

  test("a key called __proto__ is a key", () => {
    expect(changes(JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 2}'))).toEqual([
      { path: "/__proto__", kind: "changed", a: 1, b: 2 },
    ]);
  });

  test("counts what is inside", () => {
    const node = diff({ a: 1, b: { c: 1, d: 1 } }, { a: 2, b: { d: 2, e: 1 } });
    expect(node.count).toEqual({ changed: 2, added: 1, removed: 1 });
    expect(summaryOf(node)).toBe("2 changed, 1 added, 1 removed");
    expect(summaryOf(diff(1, 1))).toBe("no difference");
  });

  test("a megabyte on each side is quick", () => {
    const make = (shift: number): unknown[] =>
      Array.from({ length: 12_000 }, (_, index) => ({
        id: index,
        name: `item ${index}`,
        tags: ["a", "b"],
        nested: { value: index % 97 === shift ? "other" : index, note: "some words to make it longer" },
      }));
    const [a, b] = [make(1), make(2)];
    expect(JSON.stringify(a).length).toBeGreaterThan(1_000_000);
    const started = performance.now();
    const node = diff(a, b);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(node.count.changed).toBeGreaterThan(200);
    expect(node.count.added + node.count.removed).toBe(0);
  });
});

describe("groups", () => {
  test("unchanged neighbours fold into one group", () => {
    const node = diff({ a: 1, b: 2, c: 3, d: 4 }, { a: 1, b: 2, c: 0, d: 4 });
    const shape = groupsOf(node.children ?? []).map((group) =>
      group.kind === "fold" ? group.nodes.length : group.node.key,
    );
    expect(shape).toEqual([2, "c", 1]);
  });
});
