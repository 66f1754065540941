/** A small catalog for tests: an order, from an address to a letter. */

import type { Attribute, Catalog, Links, Step, WorkConfig } from "../../api/goals";

const need = (type: Attribute["type"] = "any"): Attribute => ({ role: "required", type });
const out = (type: Attribute["type"] = "any"): Attribute => ({ role: "output", type });

export const work: WorkConfig = {
  max_retries: 0,
  init_backoff: 0,
  max_backoff: 0,
  backoff_type: "exponential",
  parallelism: 1,
};

function step(id: string, attributes: { [name: string]: Attribute }, more: Partial<Step> = {}): Step {
  const script = { language: "ale", script: "{}" } as const;
  return { id, name: `The ${id}`, type: "script", attributes, work_config: work, script, ...more };
}

export const find = step("find", { email: need("string"), customer: out("string") }, { labels: { team: "crm" } });
export const cart = step("cart", { customer: need("string"), items: out("array") });
export const cached = step("cached", { session: need("object"), items: out("array") });
export const total = step("total", { items: need("array"), total: out("number") });
export const letter = step(
  "letter",
  {
    total: need("number"),
    email: need("string"),
    tier: { role: "optional", type: "string", optional: { default: '"none"', deadline: -1 } },
    letter: out("string"),
  },
  {
    predicate: { language: "lua", script: "return total > 0" },
    work_config: { ...work, max_retries: 3, init_backoff: 1000, max_backoff: 60_000, backoff_type: "exponential" },
  },
);
export const sell = step("sell", { deal: out() }, { type: "flow", script: undefined, flow: { goals: ["letter"] } });
export const hello = step("hello", { name: need("string"), greeting: out("string") });

/** A catalog of steps, with the graph that the server would send along. */
export function catalogOf(steps: Step[], health: Catalog["health"] = {}): Catalog {
  const attributes: { [name: string]: Links } = {};
  for (const { id, attributes: own } of steps) {
    for (const [name, { role }] of Object.entries(own ?? {})) {
      attributes[name] ??= { providers: [], consumers: [] };
      attributes[name][role === "output" ? "providers" : "consumers"].push(id);
    }
  }
  return { steps, attributes, health, last_updated: 1, sequence: steps.length };
}

export const order = catalogOf([find, cart, cached, total, letter, sell, hello], {
  find: { status: "healthy" },
  total: { status: "unhealthy", error: "connection refused" },
});
