/** Labels for two nodes that are compared side by side. */

import type { Node, NodeDiff, Pause } from "../../api/types";
import { span } from "../../components/format";
import { idleOf } from "../run/active-time";

export const CHANGE_WORDS: { [change in NodeDiff["change"]]: { sign: string; word: string } } = {
  same: { sign: "=", word: "same" },
  changed: { sign: "~", word: "changed" },
  only_a: { sign: "−", word: "only in A" },
  only_b: { sign: "+", word: "only in B" },
};

/** How long it was at work: as its run's own page says. */
export function tookOf(node: Node | undefined, pauses?: readonly Pause[]): number | undefined {
  if (node?.started_at === undefined || node.ended_at === undefined) return undefined;
  return node.ended_at - node.started_at - idleOf(node, pauses);
}

const NOTICEABLE_MS = 50;

/** How much longer B took than A, when that can be noticed. */
export function slower(one: number | undefined, other: number | undefined): string | undefined {
  if (one === undefined || other === undefined) return undefined;
  const more = other - one;
  if (Math.abs(more) < NOTICEABLE_MS || Math.abs(more) < one * 0.1) return undefined;
  return more > 0 ? `+${span(more)}` : `−${span(-more)}`;
}

/** The part of a node that is worth comparing: ids and times differ between any two runs. */
export function compared(node: Node | undefined): { [key: string]: unknown } {
  if (!node) return {};
  const { status, attempts, input, output, error, skip_reason, detail } = node;
  const told = error && { code: error.code, message: error.message };
  const all = { status, attempts, input, output, error: told, skip_reason, detail };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

export function tally(nodes: NodeDiff[]): string {
  const count = (change: NodeDiff["change"]): number => nodes.filter((node) => node.change === change).length;
  return (["changed", "only_a", "only_b", "same"] as const)
    .map((change) => ({ n: count(change), word: CHANGE_WORDS[change].word }))
    .filter(({ n }) => n > 0)
    .map(({ n, word }) => `${n} ${word}`)
    .join(", ");
}
