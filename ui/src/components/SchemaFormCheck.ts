/**
 * Checks a draft against its schema and says at which place (JSON pointer) something is wrong, in plain words.
 *
 * It knows the keywords that a form can help with. What it does not know it lets pass: the server has the last word.
 */

import { equal, escapePointer } from "./JsonDiffModel";
import {
  type Draft,
  type DraftObject,
  isObject,
  names,
  resolve,
  type Schema,
  type SchemaObject,
  typesOf,
  typeWord,
  Unfinished,
} from "./SchemaFormModel";

export interface Problem {
  pointer: string;
  message: string;
  /** Tells how far a value is from what is meant; absent for all others, and for what a server found. */
  kind?: "type" | "fixed" | "missing";
}

export const REQUIRED = "Required";

const LONGEST_PATTERN_INPUT = 10_000;

export function check(schema: Schema, draft: Draft, root: Schema = schema, pointer = ""): Problem[] {
  const found = resolve(schema, root);
  const at = (message: string): Problem => ({ pointer, message });
  if (found === false) return draft === undefined ? [] : [at("No value allowed.")];
  if (draft instanceof Unfinished) return [at(draft.problem)];
  if (draft === undefined) return [{ ...at(REQUIRED), kind: "missing" }];
  const out: Problem[] = [
    ...checkType(found, draft).map((message) => ({ ...at(message), kind: "type" as const })),
    ...checkFixed(found, draft).map((message) => ({ ...at(message), kind: "fixed" as const })),
  ];
  if (out.length > 0) return out;
  out.push(...checkBranches(found, draft, root, pointer));
  if (typeof draft === "string") out.push(...checkText(found, draft).map(at));
  else if (typeof draft === "number") out.push(...checkNumber(found, draft).map(at));
  else if (Array.isArray(draft)) out.push(...checkList(found, draft, root, pointer));
  else if (isObject(draft)) out.push(...checkObject(found, draft as DraftObject, root, pointer));
  return out;
}

function checkType(schema: SchemaObject, draft: Draft): string[] {
  if (schema.type === undefined) return [];
  const allowed = typesOf(schema);
  const actual = typeOf(draft);
  if (allowed.includes(actual) || (actual === "integer" && allowed.includes("number"))) return [];
  if (actual === "number" && allowed.includes("integer")) return ["Must be an integer."];
  return [`Must be ${allowed.map(oneOf).join(" or ")}, not ${oneOf(actual)}.`];
}

/** "a list", "an integer" */
function oneOf(type: string): string {
  const word = typeWord(type);
  return type === "null" ? word : `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;
}

export function typeOf(draft: Draft): string {
  if (draft === null) return "null";
  if (Array.isArray(draft)) return "array";
  if (typeof draft === "number") return Number.isInteger(draft) ? "integer" : "number";
  return typeof draft;
}

function checkFixed(schema: SchemaObject, draft: Draft): string[] {
  if (Object.hasOwn(schema, "const") && !equal(schema.const, draft)) {
    return [`Must be ${JSON.stringify(schema.const)}.`];
  }
  if (Array.isArray(schema.enum) && !schema.enum.some((option) => equal(option, draft))) {
    return [`Must be one of ${schema.enum.map((option) => JSON.stringify(option)).join(", ")}.`];
  }
  return [];
}

/** Of several branches that all fail, the one that fails least is most likely the one that is meant. */
function checkBranches(schema: SchemaObject, draft: Draft, root: Schema, pointer: string): Problem[] {
  const list = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (!Array.isArray(list) || list.length === 0 || depth >= DEEPEST) return [];
  return closest(list, draft, root, pointer).problems;
}

export function closestBranch(list: Schema[], draft: Draft, root: Schema): number {
  return closest(list, draft, root, "").index;
}

const DEEPEST = 64;
// A union that is a branch of itself says nothing: it is followed only so far.
let depth = 0;

function closest(list: Schema[], draft: Draft, root: Schema, pointer: string): { index: number; problems: Problem[] } {
  let best = { index: 0, problems: [] as Problem[], distance: Number.POSITIVE_INFINITY };
  depth += 1;
  try {
    for (const [index, branch] of list.entries()) {
      const problems = check(branch, draft, root, pointer);
      const distance = distanceOf(problems, pointer);
      if (distance < best.distance) best = { index, problems, distance };
      if (distance === 0) break;
    }
  } finally {
    depth -= 1;
  }
  return best;
}

/** A wrong tag or a wrong type means another branch; a value that is missing only means that more is to be filled in. */
function distanceOf(problems: Problem[], place: string): number {
  return problems.reduce((sum, { pointer, kind }) => {
    if (pointer === place && (kind === "type" || kind === "missing")) return sum + 1000;
    return sum + (kind === "fixed" ? 100 : kind === "missing" ? 1 : 10);
  }, 0);
}

function checkText(schema: SchemaObject, text: string): string[] {
  const out: string[] = [];
  const length = [...text].length;
  if (typeof schema.minLength === "number" && length < schema.minLength) {
    out.push(`Must have at least ${count(schema.minLength, "character")}.`);
  }
  if (typeof schema.maxLength === "number" && length > schema.maxLength) {
    out.push(`Must have at most ${count(schema.maxLength, "character")}, not ${length}.`);
  }
  if (typeof schema.pattern === "string" && !fits(schema.pattern, text)) out.push(`Must match ${schema.pattern}`);
  if (schema.format === "date" && !isDate(text)) out.push("Must be a date such as 2026-03-31.");
  if (schema.format === "date-time" && !isDateTime(text))
    out.push("Must be a date and time such as 2026-03-31T09:30:00Z.");
  return out;
}

function fits(pattern: string, text: string): boolean {
  if (text.length > LONGEST_PATTERN_INPUT) return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

export function isDateTime(text: string): boolean {
  const match = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.exec(text);
  if (!match) return false;
  return isDate(match[1] ?? "") && Number(match[2]) < 24 && Number(match[3]) < 60 && Number(match[4]) < 61;
}

function checkNumber(schema: SchemaObject, value: number): string[] {
  const out: string[] = [];
  const limit = (keyword: string): number | undefined => {
    const bound = schema[keyword];
    return typeof bound === "number" ? bound : undefined;
  };
  const [least, most] = [limit("minimum"), limit("maximum")];
  const [above, below, step] = [limit("exclusiveMinimum"), limit("exclusiveMaximum"), limit("multipleOf")];
  if (least !== undefined && value < least) out.push(`Must be ${least} or more.`);
  if (most !== undefined && value > most) out.push(`Must be ${most} or less.`);
  if (above !== undefined && value <= above) out.push(`Must be more than ${above}.`);
  if (below !== undefined && value >= below) out.push(`Must be less than ${below}.`);
  if (step !== undefined && step > 0 && !isMultiple(value, step)) out.push(`Must be a multiple of ${step}.`);
  return out;
}

function isMultiple(value: number, step: number): boolean {
  const ratio = value / step;
  return Math.abs(ratio - Math.round(ratio)) < 1e-9 * Math.max(1, Math.abs(ratio));
}

function checkList(schema: SchemaObject, list: Draft[], root: Schema, pointer: string): Problem[] {
  const out: Problem[] = [];
  const at = (message: string): void => void out.push({ pointer, message });
  const first = Array.isArray(schema.prefixItems) ? (schema.prefixItems as Schema[]) : [];
  const rest = (schema.items ?? true) as Schema;
  if (typeof schema.minItems === "number" && list.length < schema.minItems) {
    at(`Must have at least ${count(schema.minItems, "item")}.`);
  }
  if (typeof schema.maxItems === "number" && list.length > schema.maxItems) {
    at(`Must have at most ${count(schema.maxItems, "item")}, not ${list.length}.`);
  }
  list.forEach((item, index) => {
    const schemaHere = index < first.length ? (first[index] as Schema) : rest;
    out.push(...check(schemaHere, item, root, `${pointer}/${index}`));
  });
  if (schema.uniqueItems === true) {
    const twice = list.findIndex((item, index) => list.slice(0, index).some((other) => equal(item, other)));
    if (twice >= 0) out.push({ pointer: `${pointer}/${twice}`, message: "Duplicate item" });
  }
  return out;
}

function checkObject(schema: SchemaObject, object: DraftObject, root: Schema, pointer: string): Problem[] {
  const out: Problem[] = [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  const rest = (schema.additionalProperties ?? true) as Schema;
  const there = Object.keys(object).filter((name) => object[name] !== undefined);
  for (const name of names(schema.required)) {
    if (!there.includes(name))
      out.push({ pointer: `${pointer}/${escapePointer(name)}`, message: REQUIRED, kind: "missing" });
  }
  for (const name of there) {
    const place = `${pointer}/${escapePointer(name)}`;
    if (Object.hasOwn(properties, name)) out.push(...check(properties[name] as Schema, object[name], root, place));
    else if (rest === false) out.push({ pointer: place, message: `Unknown field ${JSON.stringify(name)}.` });
    else out.push(...check(rest, object[name], root, place));
  }
  if (typeof schema.minProperties === "number" && there.length < schema.minProperties) {
    out.push({ pointer, message: `Must have at least ${count(schema.minProperties, "entry", "entries")}.` });
  }
  if (typeof schema.maxProperties === "number" && there.length > schema.maxProperties) {
    out.push({ pointer, message: `Must have at most ${count(schema.maxProperties, "entry", "entries")}.` });
  }
  return out;
}

function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
