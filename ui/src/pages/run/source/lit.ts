/** Which statements of the source are lit, and how the steps of each line stand. */

import type { SourceView } from "../../../api/schema";
import type { Node, NodeStatus } from "../../../api/types";
import { type Mark, unitOf } from "../../../components/code/marks";

/** The steps of one line, from 0. */
export interface LineSteps {
  nodes: Node[];
  /** That of the one that a person should see first. */
  status: NodeStatus;
}

export interface Lit {
  marks: Mark[];
  byLine: Map<number, LineSteps>;
  /** The first line with a statement that runs, waits or has failed. */
  first: number | undefined;
}

const LIVE: ReadonlySet<NodeStatus> = new Set<NodeStatus>(["running", "waiting", "retrying"]);
/** Most urgent first. */
const ORDER: NodeStatus[] = [
  "failed",
  "retrying",
  "waiting",
  "running",
  "cancelled",
  "completed",
  "skipped",
  "pending",
];

/** The file to look at when nobody has chosen one: where a statement is lit, or else the one with the whole run. */
export function fileToShow(source: SourceView, nodes: readonly Node[], selected: string | undefined): number {
  const fileOf = (id: string) => source.places[source.nodes[id] ?? -1]?.file;
  const chosen = selected === undefined ? undefined : fileOf(selected);
  if (chosen !== undefined) return chosen;
  const current = currentNodes(nodes).find(({ id }) => fileOf(id) !== undefined) ?? nodes[0];
  return (current && fileOf(current.id)) ?? 0;
}

export function litOf(
  source: SourceView,
  nodes: readonly Node[],
  { file, text, selected }: { file: number; text: string; selected: string | undefined },
): Lit {
  const lines = text.split("\n");
  const current = new Set(currentNodes(nodes).map(({ id }) => id));
  const found: Lit = { marks: [], byLine: new Map(), first: undefined };
  for (const node of nodes) {
    const place = source.places[source.nodes[node.id] ?? -1];
    if (!place || place.file !== file) continue;
    const line = place.line - 1;
    note(found.byLine, line, node);
    const look = node.id === selected ? "lit-chosen" : current.has(node.id) ? `lit lit-${node.status}` : undefined;
    if (look === undefined) continue;
    found.marks.push(...marksOf(place, lines, look));
    if (current.has(node.id)) found.first = Math.min(found.first ?? line, line);
  }
  return found;
}

/** Those that run or wait themselves, and those that failed by themselves: not what only holds them. */
export function currentNodes(nodes: readonly Node[]): Node[] {
  const parents = new Map(nodes.map(({ id, parent }) => [id, parent]));
  const around = new Map<"live" | "failed", Set<string>>([
    ["live", new Set()],
    ["failed", new Set()],
  ]);
  const groupOf = ({ status }: Node) => (LIVE.has(status) ? "live" : status === "failed" ? "failed" : undefined);
  for (const node of nodes) {
    const group = groupOf(node);
    const holding = group && around.get(group);
    if (!holding) continue;
    for (let at = node.parent; at !== undefined && !holding.has(at); at = parents.get(at)) holding.add(at);
  }
  return nodes.filter((node) => {
    const group = groupOf(node);
    return group !== undefined && !around.get(group)?.has(node.id);
  });
}

function note(byLine: Map<number, LineSteps>, line: number, node: Node) {
  const known = byLine.get(line);
  if (!known) {
    byLine.set(line, { nodes: [node], status: node.status });
    return;
  }
  known.nodes.push(node);
  if (ORDER.indexOf(node.status) < ORDER.indexOf(known.status)) known.status = node.status;
}

function marksOf(place: SourceView["places"][number], lines: readonly string[], look: string): Mark[] {
  const found: Mark[] = [];
  for (let line = place.line; line <= place.end_line; line++) {
    const text = lines[line - 1] ?? "";
    const from = line === place.line ? unitOf(text, place.column) : text.length - text.trimStart().length;
    const to = line === place.end_line ? unitOf(text, place.end_column) : text.length;
    // What only holds others has a beginning and no length: its first line is lit.
    const single = place.line === place.end_line && place.column === place.end_column;
    found.push({ line: line - 1, from, to: single ? text.length : to, look });
  }
  return found;
}

/** How the steps of a line stand, in words. */
export function wordsOf({ nodes }: LineSteps): string {
  const [only] = nodes;
  if (nodes.length === 1 && only) return `${only.label}: ${only.status}`;
  const counts = new Map<NodeStatus, number>();
  for (const { status } of nodes) counts.set(status, (counts.get(status) ?? 0) + 1);
  const parts = ORDER.filter((status) => counts.has(status)).map((status) => `${counts.get(status)} ${status}`);
  return `${nodes.length} steps: ${parts.join(", ")}`;
}
