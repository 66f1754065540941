/**
 * Two people changed the same document: what each changed since they both saw it, put together. Where both changed the
 * same thing, mine is taken, and it is named as a conflict.
 */

import type { Json } from "../../api/types";
import { equal, escapePointer } from "../../components/JsonDiffModel";
import { isObject } from "../../components/SchemaFormModel";
import { byId } from "./json-patch";

export interface Conflict {
  pointer: string;
  /** Undefined: it was removed. */
  mine: Json | undefined;
  theirs: Json | undefined;
}

export interface Merged {
  value: Json;
  conflicts: Conflict[];
}

type Maybe = Json | undefined;

export function merge(base: Json, mine: Json, theirs: Json): Merged {
  const conflicts: Conflict[] = [];
  const value = merged(base, mine, theirs, "", conflicts);
  return { value: value ?? null, conflicts };
}

function merged(base: Maybe, mine: Maybe, theirs: Maybe, pointer: string, conflicts: Conflict[]): Maybe {
  if (equal(mine, theirs) || equal(base, theirs)) return mine;
  if (equal(base, mine)) return theirs;
  if (isObject(mine) && isObject(theirs)) {
    return objects(isObject(base) ? base : {}, mine, theirs, pointer, conflicts);
  }
  if (Array.isArray(mine) && Array.isArray(theirs) && Array.isArray(base)) {
    const lists = keyed(base, mine, theirs);
    if (lists) return [...objectsOf(lists, pointer, conflicts).values()];
  }
  conflicts.push({ pointer, mine, theirs });
  return mine;
}

type Fields = Record<string, unknown>;

function objects(base: Fields, mine: Fields, theirs: Fields, pointer: string, conflicts: Conflict[]): Json {
  const lists = [base, mine, theirs].map((one) => new Map(Object.entries(one as { [key: string]: Json })));
  return Object.fromEntries(objectsOf(lists as Three, pointer, conflicts));
}

type Three = [Map<string, Json>, Map<string, Json>, Map<string, Json>];

/** What is mine keeps its order; what only they added comes after it. */
function objectsOf([base, mine, theirs]: Three, pointer: string, conflicts: Conflict[]): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const key of new Set([...mine.keys(), ...theirs.keys()])) {
    const at = `${pointer}/${escapePointer(key)}`;
    const value = merged(base.get(key), mine.get(key), theirs.get(key), at, conflicts);
    if (value !== undefined) found.set(key, value);
  }
  return found;
}

/**
 * Items by their ids. Those without go by their place while nobody has added or removed one, so that two who changed the
 * same rule are told; else they are what they say, so that each edge is one.
 */
function keyed(...lists: [Json[], Json[], Json[]]): Three | undefined {
  const named = lists.map(byId);
  if (named.every((one) => one !== undefined)) return named as Three;
  if (new Set(lists.map(({ length }) => length)).size === 1) {
    return lists.map((list) => new Map(list.map((item, index) => [String(index), item]))) as Three;
  }
  const said = lists.map((list) => new Map(list.map((item) => [JSON.stringify(item), item])));
  return said.every((one, index) => one.size === lists[index]?.length) ? (said as Three) : undefined;
}
