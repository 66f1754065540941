// @vitest-environment node
import { expect, test } from "vitest";
import type { Step } from "../../api/goals";
import { best, indexed, leftWithout, ports, search, typeOf } from "./catalog-index";
import { retryWords } from "./descriptions";
import { wiring } from "./edges";
import { around } from "./neighbours";
import { cached, catalogOf, letter, order, total, work } from "./order.example";

const catalog = indexed(order);
const ids = (steps: readonly Step[]) => steps.map(({ id }) => id);
const any = { q: "", type: "", health: "" };

test("each word has to be in the name, the type, a label or an attribute", () => {
  expect(ids(search(catalog, { ...any, q: "TEAM:crm" }))).toEqual(["find"]);
  expect(ids(search(catalog, { ...any, q: "items the" }))).toEqual(["cached", "cart", "total"]);
  expect(ids(search(catalog, { ...any, q: "items crm" }))).toEqual([]);
  expect(search(catalog, any)).toBe(catalog.steps);
});

test("what is called exactly so comes first, then what begins so", () => {
  expect(ids(best(catalog, "total", 3))).toEqual(["total", "letter"]);
  expect(ids(best(catalog, "the c", 2))).toEqual(["cached", "cart"]);
  expect(ids(best(catalog, "the c", 2, ["cached"]))).toEqual(["cart", "find"]);
  expect(best(catalog, "", 3)).toHaveLength(3);
});

test("steps are chosen by type and by health, and what nobody looked at is unknown", () => {
  expect(ids(search(catalog, { ...any, type: "flow" }))).toEqual(["sell"]);
  expect(ids(search(catalog, { ...any, health: "unhealthy" }))).toEqual(["total"]);
  expect(search(catalog, { ...any, health: "unknown" })).toHaveLength(5);
});

test("inputs come with the required ones first", () => {
  expect(ports(letter).inputs.map(({ name }) => name)).toEqual(["email", "total", "tier"]);
  expect(ports(letter).inputs[2]?.detail).toEqual({ default: '"none"', deadline: -1 });
});

test("removing a step leaves without a provider who has no other", () => {
  expect(leftWithout(catalog, "total")).toEqual({ orphans: [["total", ["letter"]]], flows: [] });
  expect(leftWithout(catalog, "cart").orphans).toEqual([]);
  expect(leftWithout(catalog, "letter").flows).toEqual(["sell"]);
});

test("the type of a name is that of a step that says one", () => {
  expect(["items", "email", "nobody"].map((name) => typeOf(catalog, name))).toEqual(["array", "string", "any"]);
});

test("edges lead from who gives a name to who takes it, among the steps that are shown", () => {
  expect(wiring([cached, total, letter], catalog.links)).toEqual({
    edges: [
      { source: "cached", target: "total", label: "items" },
      { source: "total", target: "letter", label: "total" },
    ],
    hubs: [],
  });
});

test("a name that many give and many take is a node, not an edge for each pair", () => {
  const give = Array.from({ length: 150 }, (_, n) => ({ ...cached, id: `give${n}` }));
  const take = Array.from({ length: 150 }, (_, n) => ({ ...total, id: `take${n}` }));
  const { links } = indexed(catalogOf([...give, ...take]));
  expect(wiring([...give, ...take], links)).toMatchObject({ edges: { length: 300 }, hubs: ["items"] });
  expect(wiring([cached, ...take], indexed(catalogOf([cached, ...take])).links)).toMatchObject({
    edges: { length: 150 },
    hubs: [],
  });
});

test("around a step is what it needs and what needs it, nearest first, and no more than fits", () => {
  expect(around(catalog, ["total"]).ids.slice(0, 4).sort()).toEqual(["cached", "cart", "letter", "total"]);
  expect(around(catalog, ["hello"])).toEqual({ ids: ["hello"], cut: false });
  expect(around(catalog, ["total"], 3)).toMatchObject({ ids: { length: 3 }, cut: true });
  expect(around(catalog, ["nosuch"])).toEqual({ ids: [], cut: false });
});

test("ten thousand steps are searched and walked while nobody waits", () => {
  const steps = Array.from(
    { length: 10_000 },
    (_, n): Step => ({
      id: `s${n}`,
      name: `Step ${n}`,
      type: "script",
      attributes: { [`v${n}`]: { role: "output", type: "any" }, [`v${n - 1}`]: { role: "required", type: "any" } },
      work_config: work,
    }),
  );
  const big = indexed(catalogOf(steps));
  const before = performance.now();
  expect(search(big, { ...any, q: "step 9999" })).toHaveLength(1);
  expect(around(big, ["s5000"]).cut).toBe(true);
  expect(performance.now() - before).toBeLessThan(200);
});

test("retries are told in words", () => {
  expect(retryWords(letter.work_config)).toBe("up to 3 retries, after 1 s, doubling to at most 1 min");
  expect(retryWords({ ...work, retry: "never", max_retries: 3 })).toBe("never");
  expect(retryWords({ ...work, max_retries: -1, init_backoff: 500, backoff_type: "fixed" })).toBe(
    "without limit, after 500 ms",
  );
});
