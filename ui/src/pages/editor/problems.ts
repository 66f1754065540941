/** What is wrong with a document, and with which part of it. */

import type { Json } from "../../api/types";
import { isObject } from "../../components/SchemaFormModel";
import { idOf, partsOf } from "./json-patch";

export interface Problem {
  /** Into the document; empty for the whole. */
  pointer: string;
  message: string;
  code?: string;
  /** It can be saved all the same. */
  warning?: boolean;
}

/** Those at a place and below it, with pointers from there. */
export function below(problems: readonly Problem[], place: string): Problem[] {
  return problems
    .filter(({ pointer }) => pointer === place || pointer.startsWith(`${place}/`))
    .map((problem) => ({ ...problem, pointer: problem.pointer.slice(place.length) }));
}

const MISSING = /\b(?:[\w-]+\.)*([\w-]+) is required\b/;

/** A server names the object in which a field is missing; a person looks at the empty field. */
export function aimedAtField(problem: Problem): Problem {
  const field = MISSING.exec(problem.message)?.[1];
  return field === undefined ? problem : { ...problem, pointer: `${problem.pointer}/${field}` };
}

/** The id of the item of a list that a pointer leads into: `/nodes/3/config` may be in `charge`. */
export function itemOf(document: Json, list: string, pointer: string): string | undefined {
  const [first, place] = partsOf(pointer);
  if (first !== list || place === undefined || !isObject(document)) return undefined;
  const items = document[list];
  if (!Array.isArray(items)) return undefined;
  return idOf(items[Number(place)] as Json) ?? (items.some((item) => idOf(item as Json) === place) ? place : undefined);
}
