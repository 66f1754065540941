/** The geometry of the timeline: rows in tree order, each with the pieces of time that differ in meaning. */

import type { Bar, Millis, Outcome, Pause, Try } from "../../../api/types";
import { idleWithin } from "../active-time";

export type Piece =
  | { kind: "queue"; from: Millis; to: Millis; number: number }
  | { kind: "try"; from: Millis; to: Millis; number: number; outcome: Outcome; open: boolean; attempt: Try }
  | { kind: "backoff"; from: Millis; to: Millis; number: number }
  | { kind: "wait"; from: Millis; to: Millis; open: boolean }
  | { kind: "scope"; from: Millis; to: Millis; open: boolean };

export interface Row {
  bar: Bar;
  depth: number;
  pieces: Piece[];
}

/** In active time: that of the clock without the pauses before. */
export interface Span {
  from: Millis;
  to: Millis;
  pauses?: readonly Pause[];
}

/** Kinds that wait for something outside, rather than do something. */
const WAITS: ReadonlySet<string> = new Set(["sleep", "timer", "message", "listen", "approval", "child", "wait"]);

export function rows(bars: readonly Bar[], now: Millis): Row[] {
  const known = new Set(bars.map((bar) => bar.node));
  const inside = new Map<string | undefined, Bar[]>();
  for (const bar of bars) {
    const parent = bar.parent !== undefined && known.has(bar.parent) ? bar.parent : undefined;
    inside.set(parent, [...(inside.get(parent) ?? []), bar]);
  }
  const found: Row[] = [];
  const walk = (parent: string | undefined, depth: number) => {
    for (const bar of (inside.get(parent) ?? []).sort(byStart)) {
      found.push({ bar, depth, pieces: pieces(bar, now) });
      walk(bar.node, depth + 1);
    }
  };
  walk(undefined, 0);
  return found;
}

/** What has not started yet comes last. */
function byStart(a: Bar, b: Bar): number {
  return (a.started_at ?? Number.MAX_VALUE) - (b.started_at ?? Number.MAX_VALUE);
}

export function pieces(bar: Bar, now: Millis): Piece[] {
  if (bar.tries.length === 0) return whole(bar, now);
  const found: Piece[] = [];
  for (const [index, attempt] of bar.tries.entries()) {
    const { number, queued_at, started_at, ended_at, outcome } = attempt;
    const before = bar.tries[index - 1]?.ended_at;
    const begins = queued_at ?? started_at;
    if (before !== undefined && begins > before) found.push({ kind: "backoff", from: before, to: begins, number });
    if (queued_at !== undefined && started_at > queued_at) {
      found.push({ kind: "queue", from: queued_at, to: started_at, number });
    }
    const open = ended_at === undefined;
    const to = ended_at ?? Math.max(now, started_at);
    found.push({ kind: "try", from: started_at, to, number, outcome, open, attempt });
  }
  const last = bar.tries.at(-1);
  if (last?.retry_at !== undefined && last.ended_at !== undefined && bar.status === "retrying") {
    const to = Math.max(last.retry_at, last.ended_at);
    found.push({ kind: "backoff", from: last.ended_at, to, number: last.number + 1 });
  }
  return found;
}

function whole(bar: Bar, now: Millis): Piece[] {
  if (bar.started_at === undefined) return [];
  const open = bar.ended_at === undefined;
  const to = bar.ended_at ?? Math.max(now, bar.started_at);
  return [{ kind: WAITS.has(bar.kind) ? "wait" : "scope", from: bar.started_at, to, open }];
}

/** All that happened, with a little room at the end. */
export function extent(all: readonly Row[], now: Millis, live: boolean, pauses: readonly Pause[] = []): Span {
  let from = Number.POSITIVE_INFINITY;
  let to = live ? active(now, pauses) : Number.NEGATIVE_INFINITY;
  for (const row of all) {
    for (const piece of row.pieces) {
      from = Math.min(from, active(piece.from, pauses));
      to = Math.max(to, active(piece.to, pauses));
    }
  }
  if (from === Number.POSITIVE_INFINITY) return { from: now - 1000, to: now };
  return { from, to: Math.max(to, from + 1) + Math.max((to - from) * 0.02, 1), pauses };
}

function active(at: Millis, pauses: readonly Pause[] | undefined): Millis {
  return at - idleWithin(Number.NEGATIVE_INFINITY, at, pauses);
}

/** Where a moment is, from 0 to 100. A pause has no width. */
export function percent(at: Millis, span: Span): number {
  return share(active(at, span.pauses) - span.from, span);
}

/** Where so much active time after the start is, from 0 to 100. */
export function share(after: Millis, span: Span): number {
  return (after / (span.to - span.from)) * 100;
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5,
  432e5, 864e5, 6048e5, 2592e6,
];

/** Round moments since the beginning, at most about `count` of them. */
export function ticks(span: Span, count: number): Millis[] {
  const length = span.to - span.from;
  const step = STEPS.find((one) => length / one <= count) ?? length;
  const found: Millis[] = [];
  for (let at = 0; at <= length; at += step) found.push(at);
  return found;
}
