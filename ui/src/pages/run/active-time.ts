/** How long something was at work: without the time in which its run had ended, or was another run. */

import type { Millis, Node, Pause } from "../../api/types";

export function idleWithin(from: Millis, to: Millis, pauses: readonly Pause[] = []): Millis {
  return pauses.reduce((sum, { start, end }) => sum + Math.max(Math.min(end, to) - Math.max(start, from), 0), 0);
}

/** How long its run stood still while a node was open. */
export function idleOf({ started_at, ended_at }: Node, pauses: readonly Pause[] | undefined): Millis {
  if (started_at === undefined) return 0;
  return idleWithin(started_at, ended_at ?? Number.POSITIVE_INFINITY, pauses);
}
