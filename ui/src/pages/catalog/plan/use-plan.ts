/** The plan of what is asked for, made anew with each change. The one before stays until the next is there. */

import { useEffect, useState } from "react";
import { type ApiProblem, api } from "../../../api/client";
import type { Planned } from "../../../api/goals";
import { currentNamespace } from "../../../api/namespace";
import { asProblem } from "../../../api/use-resource";
import { bodyOf, type Input } from "./plan-query";

/** So long nothing more must be typed. */
const PAUSE = 120;

export interface PlanState {
  planned: Planned | undefined;
  problem: ApiProblem | undefined;
  /** What is shown is of an earlier question. */
  stale: boolean;
}

interface Found {
  key: string;
  planned?: Planned;
  problem?: ApiProblem;
}

/** `turn`: another one asks again, as after a change of the catalog. */
export function usePlan(goals: readonly string[], input: Input, turn: number): PlanState {
  const key = goals.length === 0 ? "" : JSON.stringify([currentNamespace(), goals, input, turn]);
  const [found, setFound] = useState<Found>({ key: "" });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for goals, input and namespace
  useEffect(() => {
    if (key === "") {
      setFound({ key });
      return;
    }
    const abort = new AbortController();
    const timer = window.setTimeout(() => {
      api
        .post<Planned>("/plan", bodyOf(goals, input), { signal: abort.signal })
        .then((planned) => setFound({ key, planned }))
        .catch((error: unknown) => !abort.signal.aborted && setFound({ key, problem: asProblem(error) }));
    }, PAUSE);
    return () => {
      window.clearTimeout(timer);
      abort.abort();
    };
  }, [key]);
  if (key === "") return { planned: undefined, problem: undefined, stale: false };
  return { planned: found.planned, problem: found.problem, stale: found.key !== key };
}
