/** The next times of what is typed, asked for when the typing rests. */

import { useEffect, useState } from "react";
import { type ApiProblem, api } from "../../api/client";
import { asProblem } from "../../api/use-resource";
import { type Draft, timingOf } from "./draft";

const REST = 300;

interface Preview {
  times: number[] | undefined;
  problem: ApiProblem | undefined;
}

export function usePreview(draft: Draft): Preview {
  const [found, setFound] = useState<Preview>({ times: undefined, problem: undefined });
  const asked = JSON.stringify(timingOf(draft));
  useEffect(() => {
    const abort = new AbortController();
    const ask = async () => {
      try {
        const body = JSON.parse(asked);
        const { times } = await api.post<{ times: number[] }>("/schedule-preview", body, { signal: abort.signal });
        setFound({ times, problem: undefined });
      } catch (error) {
        if (!abort.signal.aborted) setFound({ times: undefined, problem: asProblem(error) });
      }
    };
    const timer = window.setTimeout(() => void ask(), REST);
    return () => {
      window.clearTimeout(timer);
      abort.abort();
    };
  }, [asked]);
  return found;
}
