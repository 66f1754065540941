/** What differs between two graphs: their nodes and ways, each as added, removed, changed or the same. */

import type { Json, Node } from "../../../api/types";
import { equal } from "../../../components/JsonDiffModel";
import type { EdgeMark, GraphView } from "../../run/graph/model";
import { type Fields, nodesOf, type Route, routesOf, textOf } from "./source";

export type NodeChange = "added" | "removed" | "changed" | "same";

export interface DifferenceNode extends Node {
  change: NodeChange;
}

export interface ChangedNode {
  change: NodeChange;
  before?: Fields;
  after?: Fields;
}

export interface Difference {
  nodes: Map<string, ChangedNode>;
  view: GraphView;
}

export function differenceOf(before: Json, after: Json): Difference {
  const nodes = changedNodes(before, after);
  const [old, now] = [waysOf(before), waysOf(after)];
  const ways = new Map([...now, ...old]);
  const marks = new Map<string, EdgeMark>();
  for (const key of ways.keys()) {
    const change = !old.has(key) ? "added" : !now.has(key) ? "removed" : undefined;
    if (change) marks.set(key, { change });
  }
  const edges = [...ways.values()].map(({ source, target, label }) => ({ source, target, label: label || undefined }));
  return { nodes, view: { nodes: [...nodes].map(nodeOf), edges, marks } };
}

function changedNodes(before: Json, after: Json): Map<string, ChangedNode> {
  const old = new Map(nodesOf(before).map(({ id, node }) => [id, node]));
  const found = new Map<string, ChangedNode>();
  for (const { id, node } of nodesOf(after)) {
    const was = old.get(id);
    const change = was === undefined ? "added" : equal(was, node) ? "same" : "changed";
    found.set(id, { change, before: was, after: node });
  }
  for (const [id, node] of old) if (!found.has(id)) found.set(id, { change: "removed", before: node });
  return found;
}

function waysOf(graph: Json): Map<string, Route> {
  return new Map(routesOf(graph).map((route) => [`${route.source}\n${route.target}`, route]));
}

function nodeOf([id, { change, before, after }]: [string, ChangedNode]): DifferenceNode {
  const node = after ?? before ?? {};
  const status = change === "removed" ? "skipped" : "completed";
  return { id, label: textOf(node.name) || id, kind: textOf(node.type) ?? "", status, change };
}
