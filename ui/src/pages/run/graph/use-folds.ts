/** What is folded: by default what is big, until a person folds or unfolds it. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { View } from "../../../api/types";
import { foldedByDefault } from "./model";

export interface Folds {
  folded: ReadonlySet<string>;
  /** Folds what is unfolded, and the other way round. */
  fold: (id: string) => void;
  foldAll: (ids: string[]) => void;
}

export function useFolds(view: Pick<View, "nodes">, selected: string | undefined): Folds {
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const folded = useMemo(() => {
    const all = foldedByDefault(view);
    for (const [id, yes] of chosen) {
      if (yes) all.add(id);
      else all.delete(id);
    }
    return all;
  }, [view, chosen]);
  const latest = useRef(folded);
  latest.current = folded;
  const fold = useCallback((id: string) => {
    setChosen((old) => new Map(old).set(id, !latest.current.has(id)));
  }, []);
  const foldAll = (ids: string[]) => {
    setChosen(new Map([...latest.current, ...ids].map((id) => [id, ids.includes(id)])));
  };
  // A link to a node inside a folded scope unfolds what is around it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new selection unfolds, not each new picture
  useEffect(() => {
    const parents = new Map(view.nodes.map((node) => [node.id, node.parent]));
    const around: string[] = [];
    for (let id = selected && parents.get(selected); id && !around.includes(id); id = parents.get(id)) around.push(id);
    const shut = around.filter((id) => latest.current.has(id));
    if (shut.length) setChosen((old) => new Map([...old, ...shut.map((id) => [id, false] as const)]));
  }, [selected]);
  return { folded, fold, foldAll };
}
