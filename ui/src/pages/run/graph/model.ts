/**
 * A run's picture as a tree of scopes with edges between siblings, ready to be laid out.
 * A folded scope is one node. An edge is lifted to where its ends are siblings, so that every scope can be laid out
 * by itself: an edge from outside into a scope becomes an edge to the scope.
 */

import type { Edge, Node, View } from "../../../api/types";

/** Scopes with more children than this start folded. */
export const FOLD_ABOVE = 30;

/** What is drawn on an edge beside the edge. */
export interface EdgeMark {
  /** In another version of the graph it is not there. */
  change?: "added" | "removed";
  badge?: Badge;
}

/** A few letters in a circle, and what they mean. */
export interface Badge {
  text: string;
  title: string;
}

export interface GraphView extends Pick<View, "nodes" | "edges" | "pauses"> {
  /** By source and target, with a line break between. */
  marks?: ReadonlyMap<string, EdgeMark>;
  /** What is at a node now, in a few letters and in words. */
  badges?: ReadonlyMap<string, Badge>;
}

export interface Scope {
  id: string | undefined;
  children: Item[];
  edges: Edge[];
}
export interface Item {
  id: string;
  /** Present when it is a scope that is unfolded. */
  scope?: Scope;
}

export function childrenOf(nodes: readonly Node[]): Map<string | undefined, Node[]> {
  const known = new Set(nodes.map((node) => node.id));
  const found = new Map<string | undefined, Node[]>();
  for (const node of nodes) {
    const parent =
      node.parent !== undefined && known.has(node.parent) && node.parent !== node.id ? node.parent : undefined;
    const list = found.get(parent);
    if (list) list.push(node);
    else found.set(parent, [node]);
  }
  return found;
}

/** What is folded when a person has said nothing about it. */
export function foldedByDefault(view: Pick<View, "nodes">): Set<string> {
  const folded = new Set<string>();
  for (const [parent, children] of childrenOf(view.nodes)) {
    if (parent !== undefined && children.length > FOLD_ABOVE) folded.add(parent);
  }
  return folded;
}

export function buildTree(view: GraphView, folded: ReadonlySet<string>): Scope {
  const children = childrenOf(view.nodes);
  const above = parents(view.nodes, children);
  const scopes = new Map<string | undefined, Scope>();
  const build = (id: string | undefined): Scope => {
    const scope: Scope = { id, children: [], edges: [] };
    scopes.set(id, scope);
    for (const node of children.get(id) ?? []) {
      const open = children.has(node.id) && !folded.has(node.id);
      scope.children.push(open ? { id: node.id, scope: build(node.id) } : { id: node.id });
    }
    return scope;
  };
  const root = build(undefined);
  const seen = new Map<string, Edge>();
  for (const edge of view.edges) {
    const lifted = lift(edge, above);
    if (!lifted) continue;
    const [parent, source, target] = lifted;
    const key = `${source}\n${target}`;
    const scope = scopes.get(parent);
    const same = seen.get(key);
    if (same) same.label = joined(same.label, edge.label);
    // The scope is folded away: nothing to draw.
    if (!scope || same) continue;
    const drawn = { source, target, label: edge.label };
    seen.set(key, drawn);
    scope.edges.push(drawn);
  }
  return root;
}

/** What two edges between the same boxes say, once each. */
function joined(label: string | undefined, more: string | undefined): string | undefined {
  if (!label || !more) return label || more;
  return label.split(", ").includes(more) ? label : `${label}, ${more}`;
}

/** For each node the chain of scopes around it, outermost first. */
function parents(nodes: readonly Node[], children: ReadonlyMap<string | undefined, Node[]>): Map<string, string[]> {
  const chains = new Map<string, string[]>();
  const walk = (id: string | undefined, chain: string[]) => {
    for (const node of children.get(id) ?? []) {
      chains.set(node.id, chain);
      walk(node.id, [...chain, node.id]);
    }
  };
  walk(undefined, []);
  // Scopes that contain each other would never be reached: their nodes are shown at the top.
  for (const node of nodes) if (!chains.has(node.id)) chains.set(node.id, []);
  return chains;
}

/** The innermost scope that holds both ends, and the siblings in it that stand for them. */
function lift(edge: Edge, above: ReadonlyMap<string, string[]>): [string | undefined, string, string] | undefined {
  const a = above.get(edge.source);
  const b = above.get(edge.target);
  if (!a || !b) return undefined;
  let depth = 0;
  while (depth < a.length && depth < b.length && a[depth] === b[depth]) depth++;
  const source = a[depth] ?? edge.source;
  const target = b[depth] ?? edge.target;
  return source === target ? undefined : [depth ? a[depth - 1] : undefined, source, target];
}

/** Changes exactly when the picture must be laid out anew: not by statuses or times. */
export function structureKey(view: GraphView, folded: ReadonlySet<string>): string {
  const nodes = view.nodes.map((node) => `${node.id}\t${node.parent ?? ""}`);
  const edges = view.edges.map((edge) => `${edge.source}\t${edge.target}\t${edge.label ?? ""}`);
  return [nodes.join("\n"), edges.join("\n"), [...folded].sort().join("\n")].join("\n\n");
}

/** How the children of a folded scope stand. */
export function tally(view: Pick<View, "nodes">): Map<string, { [status: string]: number }> {
  const found = new Map<string, { [status: string]: number }>();
  for (const node of view.nodes) {
    if (node.parent === undefined) continue;
    const counts = found.get(node.parent) ?? {};
    counts[node.status] = (counts[node.status] ?? 0) + 1;
    found.set(node.parent, counts);
  }
  return found;
}
