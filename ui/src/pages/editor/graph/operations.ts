/** What a person does to a graph: each takes the document and gives the next one. */

import type { Json } from "../../../api/types";
import { applyPatch, idOf, partsOf, valueAt } from "../json-patch";
import { type Fields, fieldsOf, listOf, nodeOf, nodesOf, type Route, reaches, textOf } from "./source";

/** A new node that says what its type is for, so that little has to be filled in. */
const FIRST: { [type: string]: Fields } = {
  http: { config: { url: "https://" } },
  transform: { config: { output: "$payload" } },
  wait: { config: { seconds: 60 } },
  human: { human_config: { title: "Approve?" } },
  run: { config: { definition: "" } },
  migration: { config: { from_version: "", to_version: "" } },
};

export function addNode(graph: Json, type: string, after?: string): { graph: Json; id: string } {
  const id = freeId(graph, (type.split("@")[0] ?? type).replace(/[^A-Za-z0-9_-]/g, "_"));
  const fields = fieldsOf(graph);
  const added = { ...fields, nodes: [...listOf(fields.nodes), { id, type, ...FIRST[type] }] };
  return { graph: after === undefined ? added : connect(added, after, id), id };
}

function freeId(graph: Json, wanted: string): string {
  const taken = new Set(nodesOf(graph).map(({ id }) => id));
  let id = wanted;
  for (let n = 2; taken.has(id); n++) id = `${wanted}_${n}`;
  return id;
}

/** Sets one field of a node; undefined takes it away. */
export function setField(graph: Json, id: string, field: string, value: Json | undefined): Json {
  return changeNode(graph, id, (node) => {
    const { [field]: _, ...rest } = node;
    if (value === undefined) return rest;
    return field in node ? { ...node, [field]: value } : { ...rest, [field]: value };
  });
}

function changeNode(graph: Json, id: string, change: (node: Fields) => Fields): Json {
  const found = nodeOf(graph, id);
  if (!found) return graph;
  const fields = fieldsOf(graph);
  const nodes = listOf(fields.nodes).map((node, index) => (index === found.index ? change(found.node) : node));
  return { ...fields, nodes };
}

// -- routes ------------------------------------------------------------------------------------------------------------

/**
 * A new way. Back to where it came from it is a loop. A node that chooses gets one more choice: the first is what else
 * happens, the next ones need a condition.
 */
export function connect(graph: Json, source: string, target: string, rejected = false): Json {
  const node = nodeOf(graph, source)?.node;
  if (!node) return graph;
  if (rejected) return withTarget(graph, source, "rejection_path", target);
  if (source === target || reaches(graph, target, source)) {
    if (node.loop !== undefined && node.loop !== null) return graph;
    return setField(graph, source, "loop", {
      condition: "",
      max_iterations: 3,
      ...(source === target ? {} : { loop_back_to: target }),
    });
  }
  const branch = fieldsOf(node.branch);
  const chooses = node.type === "decision" || node.type === "conditional" || node.branch;
  if (chooses && branch.enabled !== false) return setField(graph, source, "branch", choice(branch, target));
  if (Array.isArray(fieldsOf(node.loop).break_path)) {
    const loop = fieldsOf(node.loop);
    return setField(graph, source, "loop", { ...loop, break_path: withOne(loop.break_path, target) });
  }
  const fields = fieldsOf(graph);
  const edges = listOf(fields.edges);
  const there = edges.some((edge) => fieldsOf(edge).from === source && fieldsOf(edge).to === target);
  return there ? graph : { ...fields, edges: [...edges, { from: source, to: target }] };
}

function choice(branch: Fields, target: string): Fields {
  if (branch.type === "agent_driven") {
    return { ...branch, available_next_nodes: withOne(branch.available_next_nodes, target) };
  }
  if (listOf(branch.default).length === 0) return { ...branch, default: [target] };
  return { ...branch, rules: [...listOf(branch.rules), { condition: "", next_nodes: [target] }] };
}

function withTarget(graph: Json, id: string, field: string, target: string): Json {
  return setField(graph, id, field, withOne(nodeOf(graph, id)?.node[field], target));
}

function withOne(targets: Json | undefined, target: string): Json[] {
  return [...new Set([...listOf(targets), target])];
}

/** A rule whose only target it was goes with it; a path that is empty then is left out. */
export function disconnect(graph: Json, { pointer }: Pick<Route, "pointer">): Json {
  const without = applyPatch(graph, [{ op: "remove", path: pointer }]);
  const parts = partsOf(pointer);
  const list = parent(pointer);
  const left = valueAt(without, list);
  if (parts[0] === "edges" || !Array.isArray(left) || left.length > 0) return without;
  return applyPatch(without, [{ op: "remove", path: parts.at(-2) === "next_nodes" ? parent(list) : list }]);
}

function parent(pointer: string): string {
  return pointer.slice(0, pointer.lastIndexOf("/"));
}

// -- removing and renaming ---------------------------------------------------------------------------------------------

/** The node, and whatever names it. */
export function removeNode(graph: Json, id: string): Json {
  const fields = fieldsOf(mapIds(graph, (one) => (one === id ? undefined : one)));
  return { ...fields, nodes: listOf(fields.nodes).filter((node) => idOf(node) !== id) };
}

/** The node, whatever names it, and what templates and conditions say of it. */
export function renameNode(graph: Json, from: string, to: string): Json {
  const renamed = mapIds(graph, (one) => (one === from ? to : one));
  const whole = fieldsOf(renamed);
  const nodes = listOf(whole.nodes).map((node) => {
    const fields = fieldsOf(node);
    if (fields.id === from) return { ...fields, id: to };
    return fields.node_id === from ? { ...fields, node_id: to } : node;
  });
  return mapTexts({ ...whole, nodes }, mention(from, to));
}

type MapId = (id: string) => string | undefined;

function mapIds(graph: Json, map: MapId): Json {
  const fields = fieldsOf(graph);
  const edges = listOf(fields.edges).flatMap((edge) => {
    const found = fieldsOf(edge);
    const [from, to] = [map(textOf(found.from) ?? ""), map(textOf(found.to) ?? "")];
    return from === undefined || to === undefined ? [] : [{ ...found, from, to }];
  });
  const nodes = listOf(fields.nodes).map((node) => mapNode(fieldsOf(node), map));
  return { ...fields, nodes, ...(fields.edges === undefined ? {} : { edges }) };
}

const LISTS = ["dependencies", "dependents", "rejection_path"];

function mapNode(node: Fields, map: MapId): Fields {
  const found = mapLists(node, LISTS, map);
  if (node.branch) found.branch = mapBranch(fieldsOf(node.branch), map);
  if (node.loop) found.loop = mapLoop(fieldsOf(node.loop), map);
  if (node.capabilities) found.capabilities = mapLists(fieldsOf(node.capabilities), ["can_emit_to"], map);
  return found;
}

function mapBranch(branch: Fields, map: MapId): Fields {
  const found = mapLists(branch, ["default", "available_next_nodes"], map);
  if (Array.isArray(branch.rules)) {
    found.rules = branch.rules.flatMap((rule) => {
      const mapped = mapLists(fieldsOf(rule), ["next_nodes"], map);
      // It led only to what is gone; one that ends the path on purpose stays.
      const emptied = listOf(mapped.next_nodes).length === 0 && listOf(fieldsOf(rule).next_nodes).length > 0;
      return emptied ? [] : [mapped];
    });
  }
  return found;
}

function mapLoop(loop: Fields, map: MapId): Fields {
  const { loop_back_to, ...found } = mapLists(loop, ["break_path", "timeout_path"], map);
  const back = typeof loop_back_to === "string" ? map(loop_back_to) : undefined;
  return back === undefined ? found : { ...found, loop_back_to: back };
}

/** A list that loses its last id is left out: an empty one would mean that the path ends there. */
function mapLists(fields: Fields, names: readonly string[], map: MapId): Fields {
  const found = { ...fields };
  for (const name of names) {
    const before = fields[name];
    if (!Array.isArray(before)) continue;
    const after = before.flatMap((id) => (typeof id === "string" ? (map(id) ?? []) : id));
    if (after.length > 0 || before.length === 0) found[name] = after;
    else delete found[name];
  }
  return found;
}

/** `$nodes.a.b`, `${nodes.a}`, `ctx.a.output`, `ctx["a"]`. */
function mention(from: string, to: string): (text: string) => string {
  const name = from.replace(/[-]/g, "\\$&");
  const dotted = new RegExp(`(\\$nodes\\.|\\$\\{nodes\\.|\\bctx\\.)${name}(?![A-Za-z0-9_-])`, "g");
  const quoted = new RegExp(`(\\bctx\\[["'])${name}(?=["']\\])`, "g");
  return (text) => text.replace(dotted, `$1${to}`).replace(quoted, `$1${to}`);
}

function mapTexts(value: Json, map: (text: string) => string): Json {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item as Json, map)]));
}
