/** What a run did with its values and with its plan, as words for the page. */

import type { Node, NodeStatus } from "../../../api/types";
import type { Details } from "./details";

/** `winner`: the value that counts; `late`: came after it and is not used; `kept`: one of several that count. */
export type Mark = "winner" | "late" | "kept";

export function markOf({ attributes, plan_diff }: Details, name: string, index: number): Mark {
  const step = attributes?.[name]?.[index]?.step;
  if (index === 0) return "winner";
  return step !== undefined && plan_diff?.late?.[name]?.includes(step) ? "late" : "kept";
}

export function namesOf({ attributes = {} }: Details, text: string): string[] {
  const wanted = text.trim().toLowerCase();
  return Object.keys(attributes)
    .filter((name) => {
      const from = (attributes[name] ?? []).map(({ step }) => step ?? "init");
      return !wanted || [name, ...from].some((one) => one.toLowerCase().includes(wanted));
    })
    .sort();
}

export interface Outcome {
  step: string;
  status: NodeStatus;
  /** Why it was skipped or failed. */
  why?: string;
  goal: boolean;
}

/** Each planned step with what became of it, in the order in which they began. */
export function outcomes({ plan_diff = {}, plan = {} }: Details, nodes: readonly Node[]): Outcome[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const goals = new Set(plan.goals);
  const sets: [NodeStatus, Set<string>][] = [
    ["completed", new Set(plan_diff.completed)],
    ["failed", new Set(plan_diff.failed)],
    ["pending", new Set(plan_diff.not_started)],
  ];
  const began = (step: string) => byId.get(step)?.started_at ?? Number.POSITIVE_INFINITY;
  const order = [...(plan_diff.planned ?? [])].sort((a, b) => (began(a) === began(b) ? 0 : began(a) - began(b)));
  return order.map((step) => {
    const node = byId.get(step);
    const skipped = plan_diff.skipped?.[step];
    const known = skipped === undefined ? sets.find(([, ids]) => ids.has(step))?.[0] : "skipped";
    return {
      step,
      status: known ?? node?.status ?? "pending",
      why: skipped ?? (known === "failed" ? node?.error?.message : undefined),
      goal: goals.has(step),
    };
  });
}

/** "3 completed, 1 skipped, 2 not started" */
export function tallied(all: readonly Outcome[]): string {
  const counts = new Map<NodeStatus, number>();
  for (const { status } of all) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${WORDS[status] ?? status}`).join(", ");
}

const WORDS: { [status in NodeStatus]?: string } = { pending: "not started" };
