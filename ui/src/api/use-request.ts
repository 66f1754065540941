import { useState } from "react";
import type { ApiProblem } from "./client";
import { asProblem } from "./use-resource";

export interface RequestState {
  busy: boolean;
  /** Why the last one failed. */
  error: ApiProblem | undefined;
  send: (work: () => Promise<void>, onFail?: (problem: ApiProblem) => void) => void;
}

/** One change at a time: whether it is under way, and what came of it. */
export function useRequest(): RequestState {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiProblem>();
  const run = async (work: () => Promise<void>, onFail?: (problem: ApiProblem) => void) => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (thrown) {
      const problem = asProblem(thrown);
      setError(problem);
      onFail?.(problem);
    }
    setBusy(false);
  };
  return { busy, error, send: (work, onFail) => void run(work, onFail) };
}
