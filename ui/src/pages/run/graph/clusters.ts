/**
 * What hangs together by edges is laid out by itself, so that the layers of one part don't push another apart. Nodes
 * without edges are one part, the last.
 */

import { groupBy } from "../../../components/group-by";
import type { Scope } from "./model";

interface Cluster<T> {
  items: T[];
  scope: Scope;
}

/** The parts, in the order of their first nodes, the big ones first. */
export function clusters<T extends { id: string }>(items: readonly T[], scope: Scope): Cluster<T>[] {
  const root = roots(items, scope);
  const found = groupBy(items, ({ id }) => root(id));
  const edges = groupBy(scope.edges, ({ source }) => root(source));
  const alone: T[] = [];
  const parts: Cluster<T>[] = [];
  for (const [id, members] of found) {
    const inside = edges.get(id);
    if (inside) parts.push({ items: members, scope: { ...scope, edges: inside } });
    else alone.push(...members);
  }
  parts.sort((a, b) => b.items.length - a.items.length);
  if (alone.length > 0) parts.push({ items: alone, scope: { ...scope, edges: [] } });
  return parts;
}

/** For each node the one that stands for all it hangs together with. */
function roots(items: readonly { id: string }[], scope: Scope): (id: string) => string {
  const above = new Map(items.map(({ id }) => [id, id]));
  const root = (id: string): string => {
    let at = id;
    for (let next = above.get(at); next !== undefined && next !== at; next = above.get(at)) {
      // Path halving: the next lookup is shorter.
      above.set(at, above.get(next) ?? next);
      at = next;
    }
    return at;
  };
  for (const { source, target } of scope.edges) above.set(root(target), root(source));
  return root;
}
