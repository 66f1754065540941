/** What the steps of a definition returned the last time it ran to its end: names of fields to complete from. */

import { useMemo } from "react";
import type { Json, RunDetail } from "../../../api/types";
import { useResource } from "../../../api/use-resource";
import type { Samples } from "./completion";

export function useSamples(definition: string | undefined): Samples {
  const query = definition && `/runs?definition=${encodeURIComponent(definition)}&status=completed&limit=1`;
  const last = useResource<{ runs: { id: string }[] }>(query || undefined).data?.runs[0]?.id;
  const run = useResource<RunDetail>(last && `/runs/${encodeURIComponent(last)}`).data;
  return useMemo(() => {
    const nodes = run?.view?.nodes ?? [];
    return new Map(
      nodes.flatMap(({ id, output }) =>
        output === undefined || output === null ? [] : [[id, output as Json] as const],
      ),
    );
  }, [run]);
}
