/** Steps in words. */

import type { AttributeDetail, Step, WorkConfig } from "../../api/goals";
import { span } from "../../components/format";

export function stepPath(id: string): string {
  return `/catalog?step=${encodeURIComponent(id)}`;
}

export const TYPE_WORDS: { [type: string]: string } = {
  sync: "Calls a web service and waits for the response",
  async: "Calls a web service that responds later by webhook",
  script: "Runs a script",
  flow: "Runs a plan for its goals as a child run",
  python: "Calls a Python function",
  run: "Starts a child run of any dialect",
  tool: "Calls a tool of an MCP server",
  agent: "Asks a language model, which may use tools",
  pipeline: "Computes data by a pipeline",
};

/** "up to 3 retries, after 1 s, doubling to at most 1 min" */
export function retryWords({ max_retries = 0, init_backoff, max_backoff, backoff_type, retry }: WorkConfig): string {
  if (retry === "never") return "never";
  const often =
    max_retries < 0
      ? "without limit"
      : max_retries === 0
        ? "engine default"
        : `up to ${max_retries} ${max_retries === 1 ? "retry" : "retries"}`;
  if (!init_backoff) return often;
  const grows = { fixed: "", linear: ", growing evenly", exponential: ", doubling" }[backoff_type ?? "exponential"];
  const most = grows && max_backoff ? ` to at most ${span(max_backoff)}` : "";
  return `${often}, after ${span(init_backoff)}${grows}${most}`;
}

export function collectWords(detail: AttributeDetail): string | undefined {
  switch (detail.collect) {
    case "last":
      return "last value, after all providers have finished";
    case "some":
      return "list of all values, at least one";
    case "all":
      return "list with a value from every provider";
    case "none":
      return "only if no provider gives a value";
    default:
      return undefined;
  }
}

export function deadlineWords({ deadline = 0 }: AttributeDetail): string | undefined {
  if (deadline === 0) return undefined;
  return deadline < 0 ? "waits as long as a provider can deliver" : `waits at most ${span(deadline)}`;
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
