import { expect, test } from "vitest";
import type { Bar } from "../../../api/types";
import { extent, percent, pieces, rows, ticks } from "./gantt";

const bar = (rest: Partial<Bar>): Bar => ({
  node: "n",
  label: "n",
  kind: "step",
  status: "completed",
  tries: [],
  ...rest,
});
const failed = { outcome: "failed" } as const;

test("queue time, attempts and the waits between them are pieces of their own, without gaps", () => {
  const found = pieces(
    bar({
      tries: [
        { number: 1, queued_at: 0, started_at: 10, ended_at: 20, ...failed },
        { number: 2, queued_at: 50, started_at: 55, ended_at: 70, outcome: "completed" },
      ],
    }),
    100,
  );
  expect(found.map(({ kind, from, to }) => [kind, from, to])).toEqual([
    ["queue", 0, 10],
    ["try", 10, 20],
    ["backoff", 20, 50],
    ["queue", 50, 55],
    ["try", 55, 70],
  ]);
});

test("a retry that is still to come is a wait until its time", () => {
  const found = pieces(
    bar({ status: "retrying", tries: [{ number: 1, started_at: 0, ended_at: 10, retry_at: 60, ...failed }] }),
    30,
  );
  expect(found.at(-1)).toMatchObject({ kind: "backoff", from: 10, to: 60, number: 2 });
});

test("what has begun and not ended goes on to now", () => {
  expect(pieces(bar({ tries: [{ number: 1, started_at: 5, outcome: "running" }] }), 40)).toMatchObject([
    { kind: "try", to: 40, open: true },
  ]);
  expect(pieces(bar({ kind: "sleep", status: "waiting", started_at: 5 }), 40)).toMatchObject([
    { kind: "wait", from: 5, to: 40, open: true },
  ]);
});

test("a scope is neither an attempt nor a wait; what has not begun is nothing", () => {
  expect(pieces(bar({ kind: "join", started_at: 0, ended_at: 9 }), 40)).toMatchObject([{ kind: "scope", to: 9 }]);
  expect(pieces(bar({ status: "pending" }), 40)).toEqual([]);
});

test("rows stand under their scope, and those of unknown scopes at the top", () => {
  const found = rows(
    [bar({ node: "a" }), bar({ node: "c", parent: "s" }), bar({ node: "s" }), bar({ node: "x", parent: "nowhere" })],
    0,
  );
  expect(found.map((row) => [row.bar.node, row.depth])).toEqual([
    ["a", 0],
    ["s", 0],
    ["c", 1],
    ["x", 0],
  ]);
});

test("rows are in the order in which they started, and what has not started comes last", () => {
  const found = rows([bar({ node: "c" }), bar({ node: "b", started_at: 20 }), bar({ node: "a", started_at: 10 })], 0);
  expect(found.map((row) => row.bar.node)).toEqual(["a", "b", "c"]);
});

test("a pause of the run has no width", () => {
  const pauses = [{ start: 100, end: 1_000_100, kind: "reopened" }] as const;
  const all = rows([bar({ node: "a", kind: "join", started_at: 0, ended_at: 1_000_200 })], 0);
  const span = extent(all, 0, false, pauses);
  expect(span.to - span.from).toBeLessThan(300);
  expect(percent(1_000_100, span)).toBeCloseTo(percent(100, span));
});

test("the extent holds all pieces, and now while the run goes on", () => {
  const all = rows([bar({ kind: "join", started_at: 100, ended_at: 200 })], 1000);
  const ended = extent(all, 1000, false);
  expect(ended.from).toBe(100);
  expect(ended.to).toBeGreaterThanOrEqual(200);
  expect(ended.to).toBeLessThan(1000);
  expect(extent(all, 1000, true).to).toBeGreaterThanOrEqual(1000);
});

test("a run of one instant still has a width", () => {
  const span = extent(rows([bar({ kind: "join", started_at: 5, ended_at: 5 })], 5), 5, false);
  expect(Number.isFinite(percent(5, span))).toBe(true);
  expect(extent([], 5, false).to).toBeGreaterThan(extent([], 5, false).from);
});

test("ticks are round, start at the beginning and are not too many", () => {
  for (const length of [3, 70, 999, 45_000, 7_200_000, 400 * 86_400_000]) {
    const found = ticks({ from: 1000, to: 1000 + length }, 8);
    expect(found[0]).toBe(0);
    expect(found.length).toBeLessThanOrEqual(9);
  }
});
