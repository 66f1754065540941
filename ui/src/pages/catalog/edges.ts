/**
 * The edges of a catalog: from who gives a name to who takes it. A name that many give and many take is a node of its
 * own, which all of them lead to and from, as else there would be an edge for each pair.
 */

import type { Links, Step } from "../../api/goals";
import type { Edge } from "../../api/types";
import { wires } from "./catalog-index";

/** More pairs than this go over a node. */
const PAIRS = 24;

export interface CatalogEdges {
  edges: Edge[];
  /** Names that are nodes. */
  hubs: string[];
}

export function hubId(name: string): string {
  return `@${name}`;
}

/** Among some steps. A flow's goals are no edges: they run in a child. */
export function wiring(steps: readonly Step[], links: { [name: string]: Links }): CatalogEdges {
  const shown = new Set(steps.map(({ id }) => id));
  const names = new Set(steps.flatMap((step) => wires(step).takes));
  const edges: Edge[] = [];
  const hubs: string[] = [];
  for (const name of names) {
    const providers = (links[name]?.providers ?? []).filter((id) => shown.has(id));
    const consumers = (links[name]?.consumers ?? []).filter((id) => shown.has(id));
    if (providers.length * consumers.length <= PAIRS || Math.min(providers.length, consumers.length) === 1) {
      for (const source of providers) for (const target of consumers) edges.push({ source, target, label: name });
      continue;
    }
    hubs.push(name);
    for (const source of providers) edges.push({ source, target: hubId(name) });
    for (const target of consumers) edges.push({ source: hubId(name), target });
  }
  return { edges, hubs };
}
