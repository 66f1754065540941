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

/** From `from` to `to`, or to now and on while `to` is open; `bare` without the exact times, where there are many. */
export function Duration({ from, to, bare = false }: { from: number; to?: number; bare?: boolean }) {
  const time = useNow(to === undefined);
  const end = to ?? Math.max(time, from);
  const text = span(to === undefined ? Math.floor((end - from) / 1000) * 1000 : end - from);
  if (bare) return text;
  return (
    <span title={to === undefined ? `since ${absolute(from)}` : `${absolute(from)} to ${absolute(to)}`}>{text}</span>
  );
}
