/** Times that move by themselves: how long ago, how long it has been running. */

import { createContext, useContext, useSyncExternalStore } from "react";
import { absolute, relative, span } from "./format";

// One clock for the page: a thousand rows share one timer, and a hidden page has none.
let now = Date.now();
const listeners = new Set<() => void>();
let timer: number | undefined;

function tick() {
  now = Date.now();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  if (timer === undefined) {
    now = Date.now();
    timer = window.setInterval(tick, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

const silent = () => () => {};

/** Inside of it the time stands still: a picture of the past shows how long things had taken then. */
export const FrozenTime = createContext<number | undefined>(undefined);

/** The time now, to the second; stands still when not `ticking`. */
export function useNow(ticking = true): number {
  const frozen = useContext(FrozenTime);
  const time = useSyncExternalStore(ticking && frozen === undefined ? subscribe : silent, () => now);
  return frozen ?? time;
}

/** "3 min ago", with the exact time on hover. */
export function Ago({ at }: { at: number }) {
  const time = useNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={absolute(at)}>
      {relative(at, Math.max(time, Date.now() - 1000))}
    </time>
  );
}

interface DurationProps {
  from: number;
  to?: number;
  /** How long it stood still in between: not counted. */
  idle?: number;
  /** Without the exact times, where there are many. */
  bare?: boolean;
}

/** From `from` to `to`, or to now and on while `to` is open. */
export function Duration({ from, to, idle = 0, bare = false }: DurationProps) {
  const time = useNow(to === undefined);
  const active = Math.max((to ?? Math.max(time, from)) - from - idle, 0);
  const text = span(to === undefined ? Math.floor(active / 1000) * 1000 : active);
  if (bare) return text;
  return (
    <span title={to === undefined ? `since ${absolute(from)}` : `${absolute(from)} to ${absolute(to)}`}>{text}</span>
  );
}
