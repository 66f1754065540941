import { expect, test } from "vitest";
import type { Event, LogLine } from "../../api/types";
import { relative, shortId, span } from "../../components/format";
import { openDepth } from "../../components/Json";
import { waitWords } from "../../components/wait-words";
import { match } from "../../shell/router";
import { distinctNames } from "./distinct-names";
import { chosenEvents, summary, typesOf } from "./events/filter";
import { chosen } from "./Logs";

const event = (seq: number, type: string, data: Event["data"] = {}): Event => ({ seq, at: 0, type, data });

test("events are chosen by type and by any text in them", () => {
  const events = [
    event(1, "op.opened", { at: "charge" }),
    event(2, "op.closed", { at: "charge" }),
    event(3, "run.failed"),
  ];
  expect(chosenEvents(events, "op.closed", "").map((one) => one.seq)).toEqual([2]);
  expect(chosenEvents(events, "", "CHARGE").map((one) => one.seq)).toEqual([1, 2]);
  expect(chosenEvents(events, "", "failed").map((one) => one.seq)).toEqual([3]);
  expect(chosenEvents(events, "", " ")).toBe(events);
  expect(typesOf(events)).toEqual(["op.closed", "op.opened", "run.failed"]);
});

test("a long value is cut in the line of an event", () => {
  expect(summary({ at: "x", output: "y".repeat(500) }).length).toBeLessThan(120);
});

test("log lines are chosen from a level up", () => {
  const line = (id: number, level: LogLine["level"], text = ""): LogLine => ({
    id,
    at: 0,
    node: "n",
    attempt: 1,
    level,
    text,
  });
  const lines = [line(1, "debug"), line(2, "info"), line(3, "warning", "Slow bank"), line(4, "error")];
  expect(chosen(lines, "warning", "").map((one) => one.id)).toEqual([3, 4]);
  expect(chosen(lines, "debug", "slow").map((one) => one.id)).toEqual([3]);
});

test("siblings of the same label are told apart by their ids", () => {
  const names = distinctNames([
    { id: "items/~0/ship", label: "ship", parent: "items" },
    { id: "items/~1/ship", label: "ship", parent: "items" },
    { id: "pack", label: "pack" },
    { id: "x/ship", label: "ship", parent: "x" },
  ]);
  expect([...names.values()]).toEqual(["~0/ship", "~1/ship", "pack", "ship"]);
});

test("a place in words takes the place of the id", () => {
  const names = distinctNames([
    { id: "items", label: "items" },
    { id: "items/~0/ship", label: "ship", parent: "items", path: "items / loop 1 / ship" },
    { id: "items/~1/ship", label: "ship", parent: "items", path: "items / loop 2 / ship" },
  ]);
  expect([...names.values()]).toEqual(["items", "loop 1 / ship", "loop 2 / ship"]);
});

test("what a run waits for fits in a line", () => {
  const at = new Date();
  at.setHours(23, 58, 0, 0);
  expect(waitWords({ kind: "approval", text: "approval `teapot` by boss" })).toBe("approval teapot by boss");
  expect(waitWords({ kind: "sleep", text: "sleep", until: at.getTime() })).toMatch(/^sleep until 23:58/);
  expect(waitWords({ kind: "retry", text: "retry 2 of 5 of `charge`", until: at.getTime() })).toMatch(/ at 23:58/);
});

test("times are words that fit their size", () => {
  expect([0, 840, 3200, 4000, 42_900, 250_000, 7_500_000, 273_600_000].map(span)).toEqual([
    "0 ms",
    "840 ms",
    "3.2 s",
    "4 s",
    "42 s",
    "4 min 10 s",
    "2 h 5 min",
    "3 d 4 h",
  ]);
  expect(relative(0, 90_000)).toBe("1 min ago");
  expect(relative(7_200_000, 0)).toBe("in 2 h");
});

test("a long id keeps both ends", () => {
  expect(shortId("58002f82-0474-5c26-9eda-3984bbad6764")).toHaveLength(24);
  expect(shortId("o-1")).toBe("o-1");
});

test("a big value starts folded, a small one open", () => {
  expect(openDepth({ a: { b: { c: 1 } } })).toBeGreaterThan(3);
  expect(openDepth(Array.from({ length: 5000 }, () => ({ a: 1 })))).toBe(1);
  expect(openDepth("text")).toBe(1);
});

test("paths give their named parts, decoded", () => {
  expect(match("/runs/:id", "/runs/a%20b%2Fc")).toEqual({ id: "a b/c" });
  expect(match("/runs/:id", "/runs")).toBeUndefined();
  expect(match("/runs/:id", "/runs/%E0%A4%A")).toEqual({ id: "%E0%A4%A" });
});
