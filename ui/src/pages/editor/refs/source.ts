/**
 * A workflow of steps as it is being written: any JSON, perhaps no workflow yet. Whatever can be read of it is shown;
 * the server says what is wrong with the rest.
 */

import type { Json } from "../../../api/types";
import { isObject } from "../../../components/SchemaFormModel";
import { type Fields, fieldsOf, listOf, textOf } from "../graph/source";

export const KINDS = ["toolName", "code", "function", "workflow", "return"] as const;
export type Kind = (typeof KINDS)[number];

export const KIND_WORDS: { [kind in Kind]: string } = {
  toolName: "Tool",
  code: "Code",
  function: "Function",
  workflow: "Workflow",
  return: "Return",
};

export interface Step {
  name: string;
  /** In the list: `/steps/3` is its pointer. */
  index: number;
  fields: Fields;
  kind: Kind | undefined;
}

/** Those that have a name. */
export function stepsOf(document: Json): Step[] {
  return listOf(fieldsOf(document).steps).flatMap((item, index) => {
    const fields = fieldsOf(item);
    const name = textOf(fields.name);
    return name === undefined ? [] : [{ name, index, fields, kind: kindOf(fields) }];
  });
}

function kindOf(fields: Fields): Kind | undefined {
  const action = fieldsOf(fields.action);
  return KINDS.find((kind) => action[kind] !== undefined && action[kind] !== null);
}

// -- references --------------------------------------------------------------------------------------------------

const NAME = "[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?";
const TOKEN = new RegExp(`(@+)(?:\\{(${NAME})[^}]*\\}|(${NAME}))`, "g");

/** The heads of the references in a text, by the server's rules: `@@x` is text, and so is `ann@x.com`. */
export function headsIn(text: string): string[] {
  return [...text.matchAll(TOKEN)].flatMap((found) => {
    const [, marks, braced, plain] = found;
    const before = text[found.index - 1] ?? "";
    if (marks !== "@" || (plain !== undefined && /[\p{L}\p{N}_]/u.test(before))) return [];
    return [braced ?? plain ?? ""];
  });
}

/** The names that a value refers to, at any depth. */
export function namesIn(value: Json | undefined): Set<string> {
  if (typeof value === "string") return new Set(headsIn(value));
  const parts = Array.isArray(value) ? value : isObject(value) ? Object.values(value as Fields) : [];
  return new Set(parts.flatMap((part) => [...namesIn(part as Json)]));
}

/** The steps that must be settled before this one. */
export function needsOf({ name, fields }: Step): Set<string> {
  const found = namesIn(["input", "when", "forEach", "bail"].map((field) => fields[field] ?? null));
  for (const other of listOf(fields.dependsOn)) if (typeof other === "string") found.add(other);
  found.delete(name);
  return found;
}

/** A step and all that wait for it, directly or not: none of them may be referred to by it. */
export function downstreamOf(document: Json, name: string): Set<string> {
  const steps = stepsOf(document);
  const found = new Set([name]);
  for (const at of found) for (const step of steps) if (needsOf(step).has(at)) found.add(step.name);
  return found;
}

// -- changes -----------------------------------------------------------------------------------------------------

function withSteps(document: Json, change: (steps: Json[]) => Json[]): Json {
  return { ...fieldsOf(document), steps: change([...listOf(fieldsOf(document).steps)]) };
}

const FIRST_ACTION: { [kind in Kind]: Fields } = {
  toolName: { toolName: "" },
  code: { code: "export default function (input) {\n  return input;\n}\n" },
  function: { function: "" },
  workflow: { workflow: "" },
  return: { return: true },
};

export function addStep(document: Json, kind: Kind): { document: Json; name: string } {
  const taken = new Set(stepsOf(document).map((step) => step.name));
  const base = kind === "return" ? "result" : "step";
  let name = kind === "return" ? base : `${base}_1`;
  for (let n = 2; taken.has(name); n++) name = `${base}_${n}`;
  return {
    document: withSteps(document, (steps) => [...steps, { name, action: FIRST_ACTION[kind], input: {} }]),
    name,
  };
}

export function setKind(document: Json, { index }: Step, kind: Kind): Json {
  return setField(document, index, "action", FIRST_ACTION[kind]);
}

export function setField(document: Json, index: number, field: string, value: Json | undefined): Json {
  return withSteps(document, (steps) => {
    const { [field]: _, ...rest } = fieldsOf(steps[index]);
    steps[index] = value === undefined ? rest : { ...fieldsOf(steps[index]), [field]: value };
    return steps;
  });
}

export function removeStep(document: Json, index: number): Json {
  return withSteps(document, (steps) => steps.filter((_, at) => at !== index));
}

export function moveStep(document: Json, index: number, by: -1 | 1): Json {
  return withSteps(document, (steps) => {
    const [moved] = steps.splice(index, 1);
    if (moved !== undefined) steps.splice(index + by, 0, moved);
    return steps;
  });
}

/** With every reference to it. */
export function renameStep(document: Json, from: string, to: string): Json {
  return withSteps(document, (steps) =>
    steps.map((item) => {
      const fields = renamedIn(fieldsOf(item), from, to) as Fields;
      const own = fields.name === from ? { ...fields, name: to } : fields;
      if (!Array.isArray(own.dependsOn)) return own;
      return { ...own, dependsOn: own.dependsOn.map((name) => (name === from ? to : name)) };
    }),
  );
}

function renamedIn(value: Json, from: string, to: string): Json {
  if (typeof value === "string") return renamedText(value, from, to);
  if (Array.isArray(value)) return value.map((part) => renamedIn(part, from, to));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as Fields).map(([key, part]) => [key, SCRIPTS.has(key) ? part : renamedIn(part, from, to)]),
  );
}

/** Of an action: text that is no template. */
const SCRIPTS: ReadonlySet<string> = new Set(["code", "transformCode", "toolName", "function"]);

function renamedText(text: string, from: string, to: string): string {
  return text.replaceAll(
    TOKEN,
    (token, marks: string, braced: string | undefined, plain: string | undefined, at: number) => {
      if (marks !== "@" || (braced ?? plain) !== from) return token;
      if (plain !== undefined && /[\p{L}\p{N}_]/u.test(text[at - 1] ?? "")) return token;
      return braced === undefined ? `@${to}` : `@{${to}${token.slice(2 + from.length)}`;
    },
  );
}
