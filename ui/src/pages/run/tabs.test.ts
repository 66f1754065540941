import { expect, test } from "vitest";
import { detailsOf } from "./details/details";
import { hasTab, tabOf } from "./tabs";

test("every run has the tabs that need nothing of its dialect", () => {
  const details = detailsOf({});
  expect(["graph", "timeline", "events", "logs", "io"].every((tab) => hasTab(tabOf(tab), details))).toBe(true);
  expect(["attributes", "plan", "details"].some((tab) => hasTab(tabOf(tab), details))).toBe(false);
});

test("what a view brings along has a tab, whatever the dialect", () => {
  const details = detailsOf({
    details: { attributes: { email: [{ value: "a", set_at: 1 }] }, plan: { goals: ["a"] } },
  });
  expect(hasTab("attributes", details)).toBe(true);
  expect(hasTab("plan", details)).toBe(true);
  expect(hasTab("details", details)).toBe(false);
});

test("what the page has no view for is shown as it is", () => {
  const details = detailsOf({ details: { tally: 3, plan: "not a plan" } });
  expect(details.other).toEqual({ tally: 3 });
  expect(hasTab("details", details)).toBe(true);
  expect(hasTab("plan", details)).toBe(false);
});

test("steps that are wired by references have a tab, and a partial success is seen", () => {
  const steps = { f: { flags: [], iterations: { total: 2, done: 1, failed: 1, running: 0 } } };
  const details = detailsOf({ details: { mode: "auto", levels: [["f"]], partial: true, steps } });
  expect(hasTab("steps", details)).toBe(true);
  expect(details.partial).toBe(true);
  expect(details.other).toBeUndefined();
});

test("a run of a program has the tree of its steps, and its text beside the graph", () => {
  const source = { language: "afl", files: ["a.afl"], places: [], nodes: {} };
  const details = detailsOf({ details: { tree: { s: { state: "state.EventTransmit" } }, source, iteration: 3 } });
  expect(hasTab("tree", details)).toBe(true);
  expect(details.source).toEqual(source);
  expect(details.iteration).toBe(3);
  expect(hasTab("tree", detailsOf({}))).toBe(false);
});

test("agents have a tab as soon as one has begun", () => {
  expect(hasTab("agents", detailsOf({ agents: { attempts: 1, cost_usd: 0 } }))).toBe(true);
  expect(hasTab("agents", detailsOf({}))).toBe(false);
});
