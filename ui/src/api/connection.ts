/** The state of the page's live connection, shown as one dot in the top bar. */

import { useSyncExternalStore } from "react";
import type { Connection } from "./sse";

let state: Connection | undefined;
const listeners = new Set<() => void>();

/** Undefined: this page listens to nothing now. */
export function reportConnection(now: Connection | undefined): void {
  if (now === state) return;
  state = now;
  for (const listener of listeners) listener();
}

export function useConnection(): Connection | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}
