// @vitest-environment node
import { expect, test } from "vitest";
import type { Node } from "../../../api/types";
import type { Details } from "./details";
import { markOf, namesOf, outcomes, tallied } from "./outcomes";

const details: Details = {
  attributes: {
    email: [{ value: "a", set_at: 1 }],
    items: [
      { value: [1], step: "cart", set_at: 2 },
      { value: [2], step: "cached", set_at: 3 },
      { value: [3], step: "patch", set_at: 4 },
    ],
  },
  plan_diff: {
    planned: ["cached", "cart", "letter", "total"],
    completed: ["cart", "cached"],
    failed: ["letter"],
    skipped: { total: "predicate returned false" },
    not_started: ["extra"],
    late: { items: ["cached"] },
  },
  plan: { goals: ["letter"] },
};
const node = (id: string, started_at: number): Node => ({
  id,
  kind: "script",
  label: id,
  status: "failed",
  started_at,
  error: { code: "x", message: "out of ink" },
});

test("the first value counts, one that is said to be late does not", () => {
  expect([0, 1, 2].map((index) => markOf(details, "items", index))).toEqual(["winner", "late", "kept"]);
  expect(markOf(details, "email", 0)).toBe("winner");
});

test("attributes are found by name and by who gave them", () => {
  expect(namesOf(details, "")).toEqual(["email", "items"]);
  expect(namesOf(details, "CACHED")).toEqual(["items"]);
  expect(namesOf(details, "init")).toEqual(["email"]);
});

test("each planned step tells what became of it, in the order in which they began", () => {
  const found = outcomes(details, [node("cart", 1), node("cached", 2), node("letter", 9)]);
  expect(found.map(({ step, status }) => [step, status])).toEqual([
    ["cart", "completed"],
    ["cached", "completed"],
    ["letter", "failed"],
    ["total", "skipped"],
  ]);
  expect(found[2]).toMatchObject({ why: "out of ink", goal: true });
  expect(found[3]).toMatchObject({ why: "predicate returned false", goal: false });
  expect(tallied(found)).toBe("2 completed, 1 failed, 1 skipped");
});

test("a step of a run that goes on has the status of its node", () => {
  const going: Details = { plan_diff: { planned: ["a", "b"], not_started: ["b"] } };
  const found = outcomes(going, [{ ...node("a", 1), status: "running" }]);
  expect(tallied(found)).toBe("1 running, 1 not started");
});
