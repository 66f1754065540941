/** Steps in words. */

import type { AttributeDetail, Step, WorkConfig } from "../../api/goals";
import { span } from "../../parts/format";

export function stepPath(id: string): string {
  return `/catalog?step=${encodeURIComponent(id)}`;
}

export const TYPE_WORDS: { [type: string]: string } = {
  sync: "calls a web service and waits for its answer",
  async: "calls a web service, which answers later by webhook",
  script: "runs a script",
  flow: "reaches goals in a child run",
  python: "calls a Python function",
  run: "starts a run of any dialect as a child",
};

/** "up to 3 retries, after 1 s, doubling to at most 1 min" */
export function retryWords({ max_retries = 0, init_backoff, max_backoff, backoff_type, retry }: WorkConfig): string {
  if (retry === "never") return "never";
  const often =
    max_retries < 0
      ? "without limit"
      : max_retries === 0
        ? "as often as the engine does by default"
        : `up to ${max_retries} ${max_retries === 1 ? "retry" : "retries"}`;
  if (!init_backoff) return often;
  const grows = { fixed: "", linear: ", growing evenly", exponential: ", doubling" }[backoff_type ?? "exponential"];
  const most = grows && max_backoff ? ` to at most ${span(max_backoff)}` : "";
  return `${often}, after ${span(init_backoff)}${grows}${most}`;
}

export function collectWords(detail: AttributeDetail): string | undefined {
  switch (detail.collect) {
    case "last":
      return "the last value, once all providers have ended";
    case "some":
      return "a list of all values, at least one";
    case "all":
      return "a list with a value of every provider";
    case "none":
      return "only if no provider gives a value";
    default:
      return undefined;
  }
}

export function deadlineWords({ deadline = 0 }: AttributeDetail): string | undefined {
  if (deadline === 0) return undefined;
  return deadline < 0 ? "waited for while a provider can deliver" : `waited for at most ${span(deadline)}`;
}

/** The step as one would write it: what is in it, in the usual order. */
export function stepText(step: Step): string {
  return JSON.stringify(step, null, 2);
}

export const TEMPLATES: { [name: string]: object } = {
  script: {
    id: "double",
    name: "Double",
    type: "script",
    attributes: { x: { role: "required", type: "number" }, y: { role: "output", type: "number" } },
    script: { language: "ale", script: "{:y (* x 2)}" },
  },
  "sync HTTP": {
    id: "fetch-customer",
    name: "Fetch the customer",
    type: "sync",
    attributes: { customer_id: { role: "required", type: "string" }, customer: { role: "output", type: "object" } },
    http: { endpoint: "https://example.com/customers", method: "POST", timeout: 30_000 },
  },
  "async HTTP": {
    id: "render",
    name: "Render a video",
    type: "async",
    attributes: { source: { role: "required", type: "string" }, video: { role: "output", type: "string" } },
    http: { endpoint: "https://example.com/render", callback_timeout: 600_000 },
  },
  flow: {
    id: "pay",
    name: "Pay",
    type: "flow",
    attributes: { total: { role: "required", type: "number" }, receipt: { role: "output", type: "string" } },
    flow: { goals: ["send-receipt"] },
  },
};
