import { expect, test } from "vitest";
import type { GoalsPlan } from "../../../api/goals";
import { indexed } from "../catalog-index";
import { planPicture, type StepNode } from "../graph-view";
import { cart, letter, order, sell, total } from "../order.example";
import { askedOf, inputOf, planCopy, planPath, queryOf, runCopy, textOf, toggled } from "./plan-query";
import { childGaps, inOrder, placesOf } from "./step-status";

const none: GoalsPlan = {
  goals: [],
  steps: {},
  attributes: {},
  required: [],
  excluded: { missing: {}, satisfied: {}, blocked: {} },
  children: {},
  warnings: [],
};
const plan: GoalsPlan = {
  ...none,
  goals: ["letter"],
  steps: { cart, letter, total },
  attributes: {
    customer: { providers: [], consumers: ["cart"] },
    items: { providers: ["cart"], consumers: ["total"] },
    total: { providers: ["total"], consumers: ["letter"] },
    email: { providers: [], consumers: ["letter"] },
  },
  required: ["email"],
  excluded: { satisfied: { find: ["customer"] }, missing: { cached: ["session"] }, blocked: {} },
};

test("the address holds goals and inputs, and gives them back", () => {
  const asked = {
    goals: ["a", "b"],
    given: [
      { name: "x", text: '{"k": "a=b"}' },
      { name: "y", text: "" },
    ],
  };
  const url = new URL(planPath(asked.goals, asked.given), "http://localhost");
  expect(url.pathname).toBe("/catalog");
  expect(askedOf(url.searchParams)).toEqual(asked);
  expect(queryOf(asked).in).toEqual(['x={"k": "a=b"}', "y="]);
});

test("the same goal twice is one, and a click on it again takes it away", () => {
  const asked = askedOf(new URLSearchParams("goal=a&goal=a&goal=b"));
  expect(asked.goals).toEqual(["a", "b"]);
  expect(toggled(asked, "a").goals).toEqual(["b"]);
  expect(toggled(asked, "c").goals).toEqual(["a", "b", "c"]);
});

test("values are JSON, but where a string is wanted the text stands for itself", () => {
  const types: { [name: string]: string } = { s: "string", q: "string", n: "number" };
  const given = [
    { name: "s", text: "42" },
    { name: "q", text: '"a b"' },
    { name: "n", text: "42" },
    { name: "bad", text: "ada" },
    { name: "empty", text: " " },
  ];
  const { input, problems } = inputOf(given, (name) => types[name] ?? "any");
  expect(input).toEqual({ s: "42", q: "a b", n: 42 });
  expect(Object.keys(problems)).toEqual(["bad"]);
  expect(problems.bad).toContain('"ada"');
});

test("a value is written so that it is read as the same", () => {
  for (const value of ["a", "", '"q"', 1, null, { a: [1] }]) {
    for (const type of ["string", "any"]) {
      if (type === "string" && typeof value !== "string") continue;
      expect(inputOf([{ name: "x", text: textOf(value, type) }], () => type).input).toEqual({ x: value });
    }
  }
});

test("every step has a place in the plan, with the reason", () => {
  const place = placesOf(plan);
  expect(["letter", "total", "find", "cached", "hello"].map((id) => place(id).name)).toEqual([
    "goal",
    "planned",
    "satisfied",
    "missing",
    "unmet",
  ]);
  expect(place("cached").why).toBe("missing session");
});

test("what would run is listed in the order in which it could", () => {
  expect(inOrder(plan)).toEqual(["cart", "total", "letter"]);
});

test("the picture has what is given and what is missing as nodes of their own", () => {
  const { nodes, edges } = planPicture(indexed(order), plan, ["customer", "unused"], true);
  const places = new Map((nodes as StepNode[]).map(({ id, place }) => [id, place]));
  expect(places.get("@")).toBe("init");
  expect(places.get("?email")).toBe("gap");
  expect(places.get("hello")).toBe("unmet");
  expect(edges).toContainEqual({ source: "@", target: "cart", label: "customer" });
  expect(edges).toContainEqual({ source: "?email", target: "letter", label: "email" });
  const met = planPicture(indexed(order), plan, [], false).nodes.map(({ id }) => id);
  expect(met.sort()).toEqual(["?email", "cached", "cart", "find", "letter", "total"]);
});

test("gaps of children are told with their flow step, however deep", () => {
  const inner: GoalsPlan = { ...none, goals: ["letter"], steps: { letter }, required: ["cvv"] };
  const middle: GoalsPlan = { ...none, goals: ["sell"], steps: { sell }, children: { sell: inner } };
  expect(childGaps({ ...none, goals: ["top"], children: { top: middle } })).toEqual([{ step: "sell", names: ["cvv"] }]);
});

test("a plan and a run can be copied for other tools", () => {
  const input = { email: "D'Artagnan", n: 2 };
  expect(planCopy(["letter"], input, "default")).toMatchObject({
    method: "POST",
    path: "/plan",
    cli: `plait plan letter --input 'email="D'\\''Artagnan"' --input n=2`,
    python: 'plan = await engine.plan(goals("letter"), {"email": "D\'Artagnan", "n": 2})',
  });
  expect(runCopy(["a", "b"], {}, "shop")).toEqual({
    method: "POST",
    path: "/runs?namespace=shop",
    body: { dialect: "goals", definition: { goals: ["a", "b"] }, input: {} },
    cli: "plait run goals:a,b -n shop",
    python: 'handle = await engine.start(goals("a", "b"), namespace="shop")',
  });
});
