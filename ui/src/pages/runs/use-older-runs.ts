/** Runs beyond the live first page, loaded by cursor. */

import { useCallback, useEffect, useState } from "react";
import { api } from "../../api/client";
import type { RunFilter } from "../../api/live";
import { withQuery } from "../../api/namespace";
import type { Run, RunPage } from "../../api/types";
import { toastProblem } from "../../shell/toasts";

export const PAGE = 50;

export interface Older {
  runs: Run[];
  more: boolean;
  busy: boolean;
  load: () => void;
}

interface State {
  runs: Run[];
  /** Undefined: not asked yet; null: there is no more. */
  cursor: string | null | undefined;
}

/** `scope` names the list; when it changes (another filter, a fresh snapshot) what was loaded is dropped. */
export function useOlder(filter: RunFilter, scope: string, live: number): Older {
  const [state, setState] = useState<State>({ runs: [], cursor: undefined });
  const [busy, setBusy] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the scope is what it hangs on
  useEffect(() => setState({ runs: [], cursor: undefined }), [scope]);

  const page = useCallback(
    (cursor?: string) => api.get<RunPage>(withQuery("/runs", { ...filter, cursor, limit: PAGE })),
    [filter],
  );
  const load = async () => {
    setBusy(true);
    try {
      // The live list has no cursor: the first page is asked for once more, to learn where the second begins.
      const first = state.cursor === undefined ? await page() : undefined;
      const cursor = first ? first.next : state.cursor;
      const next = cursor ? await page(cursor) : undefined;
      const found = [...(first?.runs ?? []), ...(next?.runs ?? [])];
      setState((old) => ({ runs: [...old.runs, ...found], cursor: next?.next ?? null }));
    } catch (error) {
      toastProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const more = state.cursor === undefined ? live >= PAGE : state.cursor !== null;
  return { runs: state.runs, more, busy, load: () => void load() };
}

/** The live ones win over older copies; what no longer fits is left out. */
export function merged(live: readonly Run[], older: readonly Run[], gone: ReadonlySet<string>): Run[] {
  if (older.length === 0) return [...live];
  const known = new Map<string, Run>();
  for (const run of older) if (!gone.has(run.id)) known.set(run.id, run);
  for (const run of live) known.set(run.id, run);
  return [...known.values()].sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1));
}
