/** What was changed, to be undone and redone. Typing in one field is one change. */

export interface History<T> {
  readonly past: readonly T[];
  readonly now: T;
  readonly future: readonly T[];
  /** What the last change was of; the next one of the same joins it. */
  readonly mark?: string;
}

const KEPT = 200;

export function begin<T>(now: T): History<T> {
  return { past: [], now, future: [] };
}

export function change<T>(history: History<T>, now: T, mark?: string): History<T> {
  const joins = mark !== undefined && mark === history.mark && history.past.length > 0;
  const past = joins ? history.past : [...history.past.slice(1 - KEPT), history.now];
  return { past, now, future: [], mark };
}

export function undo<T>(history: History<T>): History<T> {
  const before = history.past.at(-1);
  if (history.past.length === 0) return history;
  return { past: history.past.slice(0, -1), now: before as T, future: [history.now, ...history.future] };
}

export function redo<T>(history: History<T>): History<T> {
  if (history.future.length === 0) return history;
  return {
    past: [...history.past, history.now],
    now: history.future[0] as T,
    future: history.future.slice(1),
  };
}
