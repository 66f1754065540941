/**
 * A layered layout for hundreds of nodes in one scope, where the thorough one takes seconds: each node one layer after
 * the last of those before it, and in its layer near the middle of them. Edges of a cycle that lead back are ignored.
 */

import type { Edge } from "../../../api/types";

/** The layers, each in order. */
export function layers(ids: readonly string[], edges: readonly Edge[]): string[][] {
  const next = forward(ids, edges);
  const rank = ranks(ids, next);
  const found: string[][] = [];
  for (const id of ids) {
    const at = rank.get(id) ?? 0;
    while (found.length <= at) found.push([]);
    found[at]?.push(id);
  }
  return ordered(found, next);
}

/** Each node's followers, without the edges that close a cycle. */
function forward(ids: readonly string[], edges: readonly Edge[]): Map<string, string[]> {
  const all = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { source, target } of edges) all.get(source)?.push(target);
  const kept = new Map<string, string[]>(ids.map((id) => [id, []]));
  const state = new Map<string, "open" | "done">();
  for (const start of ids) {
    if (state.has(start)) continue;
    // By hand rather than by recursion: a row of thousands would overflow the stack.
    const path: [string, number][] = [[start, 0]];
    state.set(start, "open");
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const [id, index] = top;
      const target = all.get(id)?.[index];
      if (target === undefined) {
        state.set(id, "done");
        path.pop();
        continue;
      }
      top[1] += 1;
      if (state.get(target) === "open") continue;
      kept.get(id)?.push(target);
      if (state.has(target)) continue;
      state.set(target, "open");
      path.push([target, 0]);
    }
  }
  return kept;
}

function ranks(ids: readonly string[], next: ReadonlyMap<string, string[]>): Map<string, number> {
  const open = new Map<string, number>(ids.map((id) => [id, 0]));
  for (const targets of next.values()) for (const id of targets) open.set(id, (open.get(id) ?? 0) + 1);
  const rank = new Map<string, number>();
  const ready = ids.filter((id) => open.get(id) === 0);
  for (const id of ready) rank.set(id, 0);
  for (const id of ready) {
    for (const target of next.get(id) ?? []) {
      rank.set(target, Math.max(rank.get(target) ?? 0, (rank.get(id) ?? 0) + 1));
      const left = (open.get(target) ?? 0) - 1;
      open.set(target, left);
      if (left === 0) ready.push(target);
    }
  }
  return rank;
}

function ordered(found: string[][], next: ReadonlyMap<string, string[]>): string[][] {
  const before = new Map<string, string[]>();
  for (const [id, targets] of next) {
    for (const target of targets) before.set(target, [...(before.get(target) ?? []), id]);
  }
  const place = new Map<string, number>();
  const settle = (layer: readonly string[]) => {
    for (const [index, id] of layer.entries()) place.set(id, index / Math.max(layer.length, 1));
  };
  return found.map((layer) => {
    const middle = new Map(layer.map((id) => [id, mean((before.get(id) ?? []).map((one) => place.get(one) ?? 0))]));
    const sorted = [...layer].sort((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0));
    settle(sorted);
    return sorted;
  });
}

function mean(values: number[]): number {
  return values.length ? values.reduce((sum, one) => sum + one, 0) / values.length : 0;
}
