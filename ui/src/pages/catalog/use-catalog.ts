/** The catalog of the namespace, asked for again now and then: others register steps too, and health changes. */

import { useMemo } from "react";
import type { ApiProblem } from "../../api/client";
import type { Catalog } from "../../api/goals";
import { useResource } from "../../api/use-resource";
import { usePoll } from "../../shell/use-poll";
import { type CatalogIndex, indexed } from "./catalog-index";

/** A catalog beyond this is megabytes: it is asked for less often. */
const BIG = 1000;

export interface CatalogState {
  catalog: CatalogIndex | undefined;
  /** Changes with every change of the steps. */
  sequence: number;
  error: ApiProblem | undefined;
  reload: () => void;
}

export function useCatalog(): CatalogState {
  const { data, error, reload } = useResource<Catalog>("/catalog");
  usePoll(reload, (data?.steps.length ?? 0) > BIG ? 60_000 : 10_000);
  const catalog = useMemo(() => data && indexed(data), [data]);
  return { catalog, sequence: data?.sequence ?? 0, error, reload };
}
