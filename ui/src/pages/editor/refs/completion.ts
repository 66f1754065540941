/** What may be written after an `@`: the input and the steps that are not downstream, with the fields that they have. */

import type { Json } from "../../../api/types";
import { isObject } from "../../../components/SchemaFormModel";
import { type Fields, fieldsOf } from "../graph/source";
import { downstreamOf, type Step, stepsOf } from "./source";

/** Values that steps and the input had in the last run. */
export type Samples = ReadonlyMap<string, Json>;

const DEEPEST = 3;
const MOST_FIELDS = 40;

/** All references that a step may make, without the `@`. */
export function refsFor(document: Json, step: Step, samples: Samples): string[] {
  const after = downstreamOf(document, step.name);
  const inputs = fieldPaths("input", fieldsOf(document).input_schema, samples.get("input"));
  const others = stepsOf(document)
    .filter(({ name }) => !after.has(name))
    .flatMap(({ name, fields }) => fieldPaths(name, fields.outputSchema, samples.get(name)));
  const own = step.fields.forEach === undefined ? [] : ["item", "index"];
  return [...own, ...inputs, ...others, "ctx.execution_id"];
}

function fieldPaths(head: string, schema: Json | undefined, sample: Json | undefined): string[] {
  return [...new Set([head, ...schemaPaths(head, schema, 0), ...samplePaths(head, sample, 0)])];
}

function schemaPaths(path: string, schema: Json | undefined, depth: number): string[] {
  const { properties } = fieldsOf(schema);
  if (depth >= DEEPEST || !isObject(properties)) return [];
  return Object.entries(properties as Fields)
    .slice(0, MOST_FIELDS)
    .flatMap(([name, part]) => [below(path, name), ...schemaPaths(below(path, name), part, depth + 1)]);
}

function samplePaths(path: string, sample: Json | undefined, depth: number): string[] {
  if (depth >= DEEPEST) return [];
  if (Array.isArray(sample))
    return sample.length === 0 ? [] : [`${path}[0]`, ...samplePaths(`${path}[0]`, sample[0], depth + 1)];
  if (!isObject(sample)) return [];
  return Object.entries(sample as Fields)
    .slice(0, MOST_FIELDS)
    .flatMap(([name, part]) => [below(path, name), ...samplePaths(below(path, name), part, depth + 1)]);
}

const PLAIN = /^[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?$/;

function below(path: string, name: string): string {
  return PLAIN.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}

/** A quoted key is only allowed within braces. */
export function written(ref: string): string {
  return ref.includes('"') ? `@{${ref}}` : `@${ref}`;
}

export interface Token {
  /** Where its `@` is. */
  start: number;
  end: number;
  text: string;
}

/** The reference that is being written at the caret. */
export function tokenAt(text: string, caret: number): Token | undefined {
  const found = /(^|[^\p{L}\p{N}_@])@([A-Za-z0-9_.[\]-]*)$/u.exec(text.slice(0, caret));
  if (!found) return undefined;
  const typed = found[2] ?? "";
  return { start: caret - typed.length - 1, end: caret, text: typed };
}

/** Those that begin so come first. */
export function matching(refs: readonly string[], typed: string, most = 8): string[] {
  const wanted = typed.toLowerCase();
  const begins = refs.filter((ref) => ref.toLowerCase().startsWith(wanted));
  const holds = refs.filter((ref) => !ref.toLowerCase().startsWith(wanted) && ref.toLowerCase().includes(wanted));
  return [...begins, ...holds].filter((ref) => ref !== typed).slice(0, most);
}
