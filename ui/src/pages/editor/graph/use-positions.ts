/** Where the nodes of this graph stand, and how that changes. */

import { useEffect, useMemo, useState } from "react";
import type { Json } from "../../../api/types";
import type { Point } from "../../run/graph/layout";
import { completed, type Positions, remember, remembered, renamed, tidied } from "./positions";
import { nodesOf } from "./source";

/** As much as it takes, and taller than wide: ways go down, whatever the shape of the page. */
const ROOM = { width: 60_000, height: 100_000 };

export interface Places {
  at: Positions;
  /** `done`: it was let go. */
  move: (id: string, to: Point, done: boolean) => void;
  rename: (from: string, to: string) => void;
  tidy: () => void;
}

export function usePositions(memory: string, graph: Json): Places {
  const [known, setKnown] = useState<Positions>(() => first(memory, graph));
  const at = useMemo(() => completed(graph, known), [graph, known]);
  // What was placed beside others stays there.
  useEffect(() => setKnown(at), [at]);
  return {
    at: useMemo(() => new Map(nodesOf(graph).flatMap(({ id }) => pair(id, at.get(id)))), [graph, at]),
    move: (id, to, done) => {
      const next = new Map(at).set(id, to);
      setKnown(next);
      if (done) remember(memory, next);
    },
    rename: (from, to) => setKnown(renamed(at, from, to)),
    tidy: () => {
      const next = tidied(graph, ROOM);
      setKnown(next);
      remember(memory, next);
    },
  };
}

function pair(id: string, at: Point | undefined): [string, Point][] {
  return at ? [[id, at]] : [];
}

/** Those that are remembered, if they fit this graph at all; else all anew. */
function first(memory: string, graph: Json): Positions {
  const found = remembered(memory);
  return nodesOf(graph).some(({ id }) => found.has(id)) ? found : tidied(graph, ROOM);
}
