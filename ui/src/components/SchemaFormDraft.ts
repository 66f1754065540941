/**
 * Drafts: the first draft of a schema, the way between a field's text and its value, and a draft as JSON.
 *
 * An emptied field is absent, or null where null is allowed and the value must be there. The empty string itself can be
 * given where it is the default, and always as raw JSON.
 */

import type { Json } from "../api/types";
import { isDateTime } from "./SchemaFormCheck";
import {
  type Draft,
  type DraftObject,
  type Field,
  fieldOf,
  isObject,
  type Property,
  type Schema,
  Unfinished,
} from "./SchemaFormModel";

/** What the form starts with. Optional parts stay out until a person adds them, unless they have a default. */
export function firstDraft(schema: Schema, root: Schema, required = true): Draft {
  const field = fieldOf(schema, root);
  const { schema: found } = field;
  if (Object.hasOwn(found, "default") && (required || found.default !== null)) return found.default as Draft;
  if (!required) return undefined;
  if (field.nullable) return null;
  switch (field.kind) {
    case "const":
      return field.value as Draft;
    case "boolean":
      return false;
    case "object":
      return firstObject(field.properties, root);
    case "list":
      return firstList(field, root);
    case "union":
      return tooDeep() ? undefined : deeper(() => firstDraft(field.alternatives[0]?.schema ?? true, root));
    case "text":
    case "number":
    case "choice":
    case "any":
      return undefined;
  }
}

/** The first draft of a part that a person has just added: never absent, never null, where that is possible. */
export function addedDraft(schema: Schema, root: Schema): Draft {
  const field = fieldOf(schema, root);
  const first = firstDraft(schema, root);
  if (field.kind === "list" && (first === null || sameDraft(first, []))) return firstItems(field, root);
  if (first !== null && first !== undefined) return first;
  if (field.kind === "object") return firstObject(field.properties, root);
  if (field.kind === "boolean") return false;
  return field.kind === "const" ? (field.value as Draft) : undefined;
}

function firstObject(properties: Property[], root: Schema): DraftObject {
  const out: DraftObject = {};
  for (const { name, schema, required } of properties) {
    // A required part that contains itself has no finite value: it is left open instead of growing for ever.
    const draft = tooDeep() ? undefined : deeper(() => firstDraft(schema, root, required));
    if (draft !== undefined) setOwn(out, name, draft);
  }
  return out;
}

function firstList(field: Extract<Field, { kind: "list" }>, root: Schema): Draft[] {
  const least = typeof field.schema.minItems === "number" ? Math.min(field.schema.minItems, MOST_FIRST_ITEMS) : 0;
  const length = Math.max(least, field.first.length);
  return Array.from({ length }, (_, index) =>
    tooDeep() ? undefined : deeper(() => firstDraft(field.first[index] ?? field.items, root)),
  );
}

/** A new list starts with one item to fill in. */
function firstItems(field: Extract<Field, { kind: "list" }>, root: Schema): Draft[] {
  const items = firstList(field, root);
  return items.length > 0 || field.items === false ? items : [addedDraft(field.items, root)];
}

const MOST_FIRST_ITEMS = 20;
const DEEPEST = 6;
let depth = 0;

function tooDeep(): boolean {
  return depth >= DEEPEST;
}

function deeper<T>(make: () => T): T {
  depth += 1;
  try {
    return make();
  } finally {
    depth -= 1;
  }
}

/** `__proto__` is a name like any other here. */
function setOwn(target: DraftObject, name: string, value: Draft): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The object with one property set or taken out; `order` names come first, in that order. */
export function withProperty(object: DraftObject, name: string, value: Draft, order: string[] = []): DraftObject {
  const all = changed(object, name, value);
  const out: DraftObject = {};
  for (const key of order) if (Object.hasOwn(all, key)) setOwn(out, key, all[key]);
  for (const [key, old] of Object.entries(all)) if (!Object.hasOwn(out, key)) setOwn(out, key, old);
  return out;
}

function changed(object: DraftObject, name: string, value: Draft): DraftObject {
  const out: DraftObject = {};
  for (const [key, old] of Object.entries(object)) {
    const next = key === name ? value : old;
    if (next !== undefined) setOwn(out, key, next);
  }
  if (value !== undefined && !Object.hasOwn(object, name)) setOwn(out, name, value);
  return out;
}

export function renamed(object: DraftObject, from: string, to: string): DraftObject {
  const out: DraftObject = {};
  for (const [key, value] of Object.entries(object)) setOwn(out, key === from ? to : key, value);
  return out;
}

/** What a text field shows for a draft; undefined when the draft is of another kind and only JSON can show it. */
export function textOf(field: Field, draft: Draft): string | undefined {
  if (draft === undefined || draft === null) return "";
  if (draft instanceof Unfinished) return draft.text;
  if (field.kind === "number" && typeof draft === "number") return String(draft);
  if (field.kind === "text" && typeof draft === "string") return draft;
  return undefined;
}

export function draftOf(field: Field, text: string, required: boolean): Draft {
  if (field.kind === "number") return numberDraft(field, text, required);
  if (text === "") return emptied(field, required);
  return text;
}

function emptied(field: Field, required: boolean): Draft {
  if (field.kind === "text" && field.schema.default === "") return "";
  return field.nullable && required ? null : undefined;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function numberDraft(field: Extract<Field, { kind: "number" }>, text: string, required: boolean): Draft {
  const trimmed = text.trim();
  if (trimmed === "") return emptied(field, required);
  if (!NUMBER.test(trimmed)) {
    const hint = trimmed.includes(",") ? " Write decimals with a point." : "";
    return new Unfinished(text, `Not a number.${hint}`);
  }
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return new Unfinished(text, "Too large for a JSON number.");
  if (/^[+-]?\d+$/.test(trimmed) && !Number.isSafeInteger(value)) {
    return new Unfinished(text, "Too large to be sent exactly from a browser: use the CLI or Python.");
  }
  return value;
}

export function sameDraft(a: Draft, b: Draft): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The draft as JSON; undefined when nothing is filled in. Holes in lists become null. */
export function jsonOf(draft: Draft): Json | undefined {
  if (draft instanceof Unfinished) return draft.text;
  if (Array.isArray(draft)) return draft.map((item) => jsonOf(item) ?? null);
  if (isObject(draft)) {
    const out: { [key: string]: Json } = {};
    for (const [key, value] of Object.entries(draft)) {
      const json = jsonOf(value as Draft);
      if (json !== undefined) setOwn(out as DraftObject, key, json as Draft);
    }
    return out;
  }
  return draft as Json | undefined;
}

export type Parsed = { value: Draft; problem?: undefined } | { problem: string; value?: undefined };

/** Reads raw JSON. Empty text means "nothing", which a form without required parts may well be. */
export function parseRaw(text: string): Parsed {
  if (text.trim() === "") return { value: undefined };
  let value: Draft;
  try {
    value = JSON.parse(text) as Draft;
  } catch (error) {
    return { problem: `Invalid JSON: ${whereIn(text, error)}` };
  }
  const lossy = inexactNumber(text);
  if (lossy) return { problem: `${lossy} is too large to be sent exactly from a browser: use the CLI or Python.` };
  return { value };
}

function whereIn(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const position = /position (\d+)/.exec(message)?.[1];
  // Some messages quote the text instead; it is shown next to them anyway.
  if (position === undefined) return message.replace(/, (\.\.\.)?".*$/s, "");
  const before = text.slice(0, Number(position)).split("\n");
  const plain = message.replace(/ in JSON at position.*$/, "").replace(/ at position.*$/, "");
  return `${plain} (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A browser's numbers hold 53 bits: a longer whole number would be changed without a word. */
function inexactNumber(text: string): string | undefined {
  for (const [token] of text.matchAll(TOKENS)) {
    if (/^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token))) return token;
  }
  return undefined;
}

export function rawOf(draft: Draft): string {
  const json = jsonOf(draft);
  return json === undefined ? "" : JSON.stringify(json, null, 2);
}

/** A moment as the browser's picker has it: local time without a zone. Undefined when it is no moment. */
export function toLocalTime(text: string): string | undefined {
  if (text === "") return "";
  const at = isDateTime(text) ? new Date(text) : undefined;
  if (at?.getMilliseconds() !== 0) return undefined;
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

export function fromLocalTime(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString().replace(".000Z", "Z");
}
