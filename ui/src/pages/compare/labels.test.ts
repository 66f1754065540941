// @vitest-environment node
import { expect, test } from "vitest";
import type { Node, NodeDiff } from "../../api/types";
import { span } from "../../components/format";
import { compared, slower, tally, tookOf } from "./labels";

const node = (from: number | undefined, to: number | undefined, more: Partial<Node> = {}): Node => ({
  id: "charge",
  kind: "step",
  label: "charge",
  status: "completed",
  started_at: from,
  ended_at: to,
  ...more,
});

test("a node that has not ended has no duration", () => {
  expect(tookOf(node(10, 30))).toBe(20);
  expect(tookOf(node(10, 30), [{ kind: "reopened", start: 12, end: 27 }])).toBe(5);
  expect(tookOf(node(10, undefined))).toBeUndefined();
  expect(tookOf(undefined)).toBeUndefined();
});

test("only a difference that one would notice is told", () => {
  expect(slower(1000, 3000)).toBe(`+${span(2000)}`);
  expect(slower(3000, 1000)).toBe(`−${span(2000)}`);
  expect(slower(10, 30)).toBeUndefined();
  expect(slower(100_000, 101_000)).toBeUndefined();
  expect(slower(undefined, 1)).toBeUndefined();
});

test("times and tokens are not compared, values are", () => {
  expect(
    compared(node(1, 2, { attempts: 2, output: null, token: "t", error: { code: "E", message: "no", trace: "x" } })),
  ).toEqual({
    status: "completed",
    attempts: 2,
    output: null,
    error: { code: "E", message: "no" },
  });
  expect(compared(undefined)).toEqual({});
});

test("the nodes are counted by kind of change", () => {
  const diff = (change: NodeDiff["change"]): NodeDiff => ({ id: "x", label: "x", kind: "step", change, changes: [] });
  expect(tally([diff("same"), diff("same"), diff("changed"), diff("only_b")])).toBe("1 changed, 1 only in B, 2 same");
});
