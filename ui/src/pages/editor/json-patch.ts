/**
 * JSON Patch (RFC 6902), as the server has it: in a list whose items have ids, a pointer may name an item by its id, so
 * that `/nodes/charge/retry` stays right when other nodes come and go.
 */

import type { Json } from "../../api/types";
import { equal, escapePointer, unescapePointer } from "../../components/JsonDiffModel";
import { isObject } from "../../components/SchemaFormModel";
import { align } from "../../components/TextDiffModel";

export type Operation = { op: string; path: string; from?: string; value?: Json };

/** The server takes no more in one patch. */
export const MOST_OPERATIONS = 100;

/** What makes `before` into `after`; a change too large for single operations replaces whole parts. */
export function makePatch(before: Json, after: Json): Operation[] {
  const fine = changes(before, after, "");
  return fine.length <= MOST_OPERATIONS ? fine : coarse(before, after);
}

function coarse(before: Json, after: Json): Operation[] {
  if (!isObject(before) || !isObject(after)) return [{ op: "replace", path: "", value: after }];
  return properties(before, after, "", (a, b, path) => (equal(a, b) ? [] : [{ op: "replace", path, value: b }]));
}

type Compare = (a: Json, b: Json, path: string) => Operation[];

function changes(a: Json, b: Json, path: string): Operation[] {
  if (equal(a, b)) return [];
  if (isObject(a) && isObject(b)) return properties(a, b, path, changes);
  if (Array.isArray(a) && Array.isArray(b)) return items(a, b, path);
  return [{ op: "replace", path, value: b }];
}

function properties(a: object, b: object, path: string, compare: Compare): Operation[] {
  const [old, now] = [a as { [key: string]: Json }, b as { [key: string]: Json }];
  const at = (key: string) => `${path}/${escapePointer(key)}`;
  const gone = Object.keys(old).filter((key) => !Object.hasOwn(now, key));
  const kept = Object.entries(now).flatMap(([key, value]): Operation[] => {
    const before = old[key];
    if (before === undefined) return [{ op: "add", path: at(key), value }];
    return compare(before, value, at(key));
  });
  return [...gone.map((key): Operation => ({ op: "remove", path: at(key) })), ...kept];
}

function items(a: Json[], b: Json[], path: string): Operation[] {
  const [old, now] = [byId(a), byId(b)];
  if (!old || !now || !sameOrder([...old.keys()], [...now.keys()])) return aligned(a, b, path);
  const found: Operation[] = [];
  for (const id of old.keys()) if (!now.has(id)) found.push({ op: "remove", path: `${path}/${escapePointer(id)}` });
  for (const [index, [id, item]] of [...now].entries()) {
    const before = old.get(id);
    if (before === undefined) found.push({ op: "add", path: `${path}/${index}`, value: item });
    else found.push(...changes(before, item, `${path}/${escapePointer(id)}`));
  }
  return found;
}

/** Items without ids: each stands where it stands once the operations before it are done. */
function aligned(a: Json[], b: Json[], path: string): Operation[] {
  const text = (item: Json) => JSON.stringify(item);
  const found: Operation[] = [];
  let at = 0;
  for (const step of align(a.map(text), b.map(text))) {
    if (step.kind === "removed") found.push({ op: "remove", path: `${path}/${at}` });
    else if (step.kind === "added") found.push({ op: "add", path: `${path}/${at++}`, value: b[step.b] as Json });
    else at++;
  }
  return found;
}

export function idOf(item: Json | undefined): string | undefined {
  if (!isObject(item)) return undefined;
  const id = item.id ?? item.node_id;
  return typeof id === "string" ? id : undefined;
}

/** Undefined if not every item has an id of its own that can't be taken for an index. */
export function byId(list: readonly Json[]): Map<string, Json> | undefined {
  const found = new Map<string, Json>();
  for (const item of list) {
    const id = idOf(item);
    if (id === undefined || found.has(id) || /^\d+$/.test(id) || id === "-") return undefined;
    found.set(id, item);
  }
  return found;
}

function sameOrder(old: string[], now: string[]): boolean {
  const [before, after] = [new Set(old), new Set(now)];
  return old.filter((id) => after.has(id)).join("\n") === now.filter((id) => before.has(id)).join("\n");
}

/** The value after all operations; throws if one can't be applied. The value that is given stays as it is. */
export function applyPatch(value: Json, operations: readonly Operation[]): Json {
  let whole = structuredClone(value);
  for (const operation of operations) whole = applied(whole, structuredClone(operation));
  return whole;
}

function applied(whole: Json, { op, path, from = "", value = null }: Operation): Json {
  switch (op) {
    case "add":
      return put(whole, path, value);
    case "remove":
      return take(whole, path)[0];
    case "replace":
      return replaced(whole, path, value);
    case "move": {
      const [rest, moved] = take(whole, from);
      return put(rest, path, moved);
    }
    case "copy":
      return put(whole, path, structuredClone(valueAt(whole, from)) ?? null);
    case "test":
      if (!equal(valueAt(whole, path), value)) throw new Error(`${path} has another value`);
      return whole;
    default:
      throw new Error(`unknown operation ${op}`);
  }
}

export function partsOf(pointer: string): string[] {
  return pointer.split("/").slice(1).map(unescapePointer);
}

export function valueAt(whole: Json | undefined, pointer: string): Json | undefined {
  return partsOf(pointer).reduce<Json | undefined>((at, part) => {
    if (Array.isArray(at)) return at[indexOf(at, part)];
    return isObject(at) && Object.hasOwn(at, part) ? (at[part] as Json) : undefined;
  }, whole);
}

function indexOf(list: Json[], part: string): number {
  return /^(0|[1-9]\d*)$/.test(part) ? Number(part) : list.findIndex((item) => idOf(item) === part);
}

function parentOf(whole: Json, pointer: string): [Json[] | { [key: string]: Json }, string] {
  const parts = pointer.split("/");
  const last = unescapePointer(parts.pop() ?? "");
  const parent = valueAt(whole, parts.join("/"));
  if (!Array.isArray(parent) && !isObject(parent)) throw new Error(`${pointer} does not exist`);
  return [parent as Json[] | { [key: string]: Json }, last];
}

function put(whole: Json, pointer: string, value: Json): Json {
  if (pointer === "") return value;
  const [parent, last] = parentOf(whole, pointer);
  if (!Array.isArray(parent)) parent[last] = value;
  else if (last === "-" || indexOf(parent, last) < 0) parent.push(value);
  else parent.splice(indexOf(parent, last), 0, value);
  return whole;
}

function replaced(whole: Json, pointer: string, value: Json): Json {
  if (pointer === "") return value;
  const [parent, last] = parentOf(whole, pointer);
  if (valueAt(whole, pointer) === undefined) throw new Error(`${pointer} does not exist`);
  if (Array.isArray(parent)) parent[indexOf(parent, last)] = value;
  else parent[last] = value;
  return whole;
}

function take(whole: Json, pointer: string): [Json, Json] {
  const [parent, last] = parentOf(whole, pointer);
  const found = valueAt(whole, pointer);
  if (found === undefined) throw new Error(`${pointer} does not exist`);
  if (Array.isArray(parent)) parent.splice(indexOf(parent, last), 1);
  else delete parent[last];
  return [whole, found];
}
