/**
 * What a JSON Schema means as a form.
 *
 * `fieldOf` turns one schema into one field and goes no deeper: the fields inside an object or a list are described by
 * their schemas and looked at only when they are drawn, so a schema that refers to itself costs nothing. A schema that
 * the form can't draw becomes the field `any`, which is edited as JSON: no schema is ever refused.
 */

import type { Json } from "../api/types";
import { unescapePointer } from "./JsonDiffModel";

export type Schema = boolean | SchemaObject;
export interface SchemaObject {
  [keyword: string]: unknown;
}

/** Text that a person has typed and that is no value yet, such as `12,` in a number field. */
export class Unfinished {
  constructor(
    readonly text: string,
    readonly problem: string,
  ) {}
}

/** A value under way: JSON, with `undefined` for what is not filled in and `Unfinished` for what can't be read yet. */
export type Draft = undefined | null | boolean | number | string | Unfinished | Draft[] | { [key: string]: Draft };
export type DraftObject = { [key: string]: Draft };

export interface Property {
  name: string;
  schema: Schema;
  required: boolean;
}

export interface Alternative {
  label: string;
  schema: Schema;
}

interface Common {
  title?: string;
  description?: string;
  /** The field may also be null. */
  nullable: boolean;
  schema: SchemaObject;
}

export type Field = Common &
  (
    | { kind: "text"; format: "plain" | "long" | "date" | "date-time" }
    | { kind: "number"; integer: boolean }
    | { kind: "boolean" }
    | { kind: "choice"; options: Json[] }
    | { kind: "const"; value: Json }
    | { kind: "object"; properties: Property[]; rest: Schema }
    | { kind: "list"; first: Schema[]; items: Schema }
    | { kind: "union"; alternatives: Alternative[] }
    | { kind: "any" }
  );

const LONG_TEXT = 200;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Unfinished);
}

/** What the API sends as a schema, if it is one. */
export function schemaOf(value: Json | undefined): Schema | undefined {
  return typeof value === "boolean" || isObject(value) ? value : undefined;
}

/** The schema with `$ref` followed and `allOf` joined; what its own keywords say wins over what it refers to. */
export function resolve(schema: Schema, root: Schema): SchemaObject | false {
  return follow(schema, root, new Set());
}

function follow(schema: unknown, root: Schema, seen: Set<string>): SchemaObject | false {
  if (schema === false) return false;
  if (!isObject(schema)) return {};
  let out: SchemaObject = schema;
  if (typeof schema.$ref === "string") {
    const { $ref: ref, ...own } = schema;
    if (seen.has(ref as string)) return own;
    const target = follow(lookUp(ref as string, root), root, new Set([...seen, ref as string]));
    if (target === false) return false;
    out = { ...target, ...own };
  }
  if (Array.isArray(out.allOf)) {
    const { allOf, ...own } = out;
    for (const part of allOf as unknown[]) {
      const resolved = follow(part, root, seen);
      if (resolved === false) return false;
      out = join(resolved, own);
      Object.assign(own, out);
    }
    out = own;
  }
  return out;
}

function join(a: SchemaObject, b: SchemaObject): SchemaObject {
  const out: SchemaObject = { ...a, ...b };
  if (isObject(a.properties) || isObject(b.properties)) {
    out.properties = { ...(a.properties as object | undefined), ...(b.properties as object | undefined) };
  }
  if (Array.isArray(a.required) || Array.isArray(b.required)) {
    out.required = [...new Set([...names(a.required), ...names(b.required)])];
  }
  return out;
}

/** Only references inside the same document are followed: a form never fetches. */
function lookUp(ref: string, root: Schema): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return {};
  let at: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const key = unescapePointer(decodeSafely(part));
    if (Array.isArray(at)) at = at[Number(key)];
    else if (isObject(at) && Object.hasOwn(at, key)) at = at[key];
    else return {};
  }
  return at;
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function names(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The types a schema allows: those it names, else those its keywords speak of; none means any. */
export function typesOf(schema: SchemaObject): string[] {
  if (typeof schema.type === "string") return [schema.type];
  if (Array.isArray(schema.type)) return names(schema.type);
  if (isObject(schema.properties) || schema.required !== undefined) return ["object"];
  if (schema.items !== undefined || schema.prefixItems !== undefined) return ["array"];
  return [];
}

const DEEPEST = 32;

export function fieldOf(schema: Schema, root: Schema, depth = 0): Field {
  const found = resolve(schema, root);
  // A union whose only branch is the union itself has no bottom.
  if (found === false || depth > DEEPEST) return { kind: "any", nullable: false, schema: {} };
  const common = commonOf(found);
  const alternatives = branches(found);
  if (alternatives) return unionField(alternatives, found, root, common, depth);
  if (Object.hasOwn(found, "const")) return { ...common, kind: "const", value: found.const as Json };
  if (Array.isArray(found.enum)) return choiceField(found.enum as Json[], common);
  return typedField(found, root, common);
}

function commonOf(schema: SchemaObject): Common {
  return {
    schema,
    nullable: false,
    ...(typeof schema.title === "string" ? { title: schema.title } : {}),
    ...(typeof schema.description === "string" ? { description: schema.description } : {}),
  };
}

function branches(schema: SchemaObject): Schema[] | undefined {
  for (const keyword of ["anyOf", "oneOf"]) {
    const list = schema[keyword];
    if (Array.isArray(list) && list.length > 0) return list as Schema[];
  }
  return undefined;
}

function unionField(list: Schema[], whole: SchemaObject, root: Schema, common: Common, depth: number): Field {
  const real = list.filter((branch) => !isNull(branch, root));
  const nullable = real.length < list.length;
  const { anyOf: _any, oneOf: _one, ...own } = whole;
  const [only] = real;
  if (only === undefined) return { ...common, kind: "const", value: null };
  if (real.length === 1) {
    const inner = resolve(only, root);
    // The title of the place ("Billing address") says more than the title of the type ("Address").
    const field = fieldOf(inner === false ? false : { ...inner, ...own }, root, depth + 1);
    return { ...field, nullable: nullable || field.nullable };
  }
  const consts = constsOf(real, root);
  if (consts) return { ...common, kind: "choice", options: consts, nullable };
  return { ...common, kind: "union", nullable, alternatives: labelled(real, own, root) };
}

function isNull(schema: Schema, root: Schema): boolean {
  const found = resolve(schema, root);
  return found !== false && (found.type === "null" || (Object.hasOwn(found, "const") && found.const === null));
}

function constsOf(list: Schema[], root: Schema): Json[] | undefined {
  const out: Json[] = [];
  for (const schema of list) {
    const found = resolve(schema, root);
    if (found === false || !Object.hasOwn(found, "const")) return undefined;
    out.push(found.const as Json);
  }
  return out;
}

/** Keywords beside `anyOf` (properties that all branches share) hold for every branch. */
function labelled(list: Schema[], own: SchemaObject, root: Schema): Alternative[] {
  const shared = Object.fromEntries(
    Object.entries(own).filter(([key]) => !["title", "description", "default", "discriminator"].includes(key)),
  );
  return list.map((schema, index) => {
    const found = resolve(schema, root);
    const whole = found === false ? false : join(shared, found);
    return { label: alternativeLabel(schema, whole, root, index), schema: whole };
  });
}

function alternativeLabel(schema: Schema, found: SchemaObject | false, root: Schema, index: number): string {
  if (found === false) return `option ${index + 1}`;
  if (typeof found.title === "string") return found.title;
  const tag = tagOf(found, root);
  if (tag !== undefined) return tag;
  if (isObject(schema) && typeof schema.$ref === "string") {
    const last = schema.$ref.split("/").pop();
    if (last) return unescapePointer(decodeSafely(last));
  }
  if (Object.hasOwn(found, "const")) return JSON.stringify(found.const);
  if (Array.isArray(found.enum)) return "one of a list";
  const types = typesOf(found);
  return types.length > 0 ? types.map(typeWord).join(" or ") : `option ${index + 1}`;
}

/** JSON Schema's own words, but for lists. */
export function typeWord(type: string): string {
  return type === "array" ? "list" : type;
}

/** The value of the property that tells the branches of a tagged union apart. */
function tagOf(schema: SchemaObject, root: Schema): string | undefined {
  if (!isObject(schema.properties)) return undefined;
  for (const property of Object.values(schema.properties)) {
    const found = resolve(property as Schema, root);
    if (found === false) continue;
    if (typeof found.const === "string") return found.const;
    if (Array.isArray(found.enum) && found.enum.length === 1 && typeof found.enum[0] === "string") return found.enum[0];
  }
  return undefined;
}

function choiceField(options: Json[], common: Common): Field {
  const real = options.filter((option) => option !== null);
  const nullable = real.length < options.length;
  const [only] = real;
  if (only === undefined) return { ...common, kind: "const", value: null };
  if (real.length === 1 && !nullable) return { ...common, kind: "const", value: only };
  return { ...common, kind: "choice", options: real, nullable };
}

function typedField(schema: SchemaObject, root: Schema, common: Common): Field {
  const all = typesOf(schema);
  const nullable = all.includes("null");
  const types = all.filter((type) => type !== "null" && !(type === "integer" && all.includes("number")));
  if (types.length > 1) {
    const { title: _t, description: _d, default: _f, ...own } = schema;
    const list = types.map((type) => ({ ...own, type }));
    return { ...common, kind: "union", nullable, alternatives: labelled(list, {}, root) };
  }
  const [type] = types;
  if (type === undefined) return nullable ? { ...common, kind: "const", value: null } : { ...common, kind: "any" };
  return { ...fieldOfType(type, schema, common), nullable };
}

function fieldOfType(type: string, schema: SchemaObject, common: Common): Field {
  switch (type) {
    case "string":
      return { ...common, kind: "text", format: textFormat(schema) };
    case "integer":
    case "number":
      return { ...common, kind: "number", integer: type === "integer" };
    case "boolean":
      return { ...common, kind: "boolean" };
    case "array":
      return listField(schema, common);
    case "object":
      return objectField(schema, common);
    default:
      return { ...common, kind: "any" };
  }
}

function textFormat(schema: SchemaObject): "plain" | "long" | "date" | "date-time" {
  if (schema.format === "date" || schema.format === "date-time") return schema.format;
  return typeof schema.maxLength === "number" && schema.maxLength > LONG_TEXT ? "long" : "plain";
}

function listField(schema: SchemaObject, common: Common): Field {
  const first = Array.isArray(schema.prefixItems) ? (schema.prefixItems as Schema[]) : [];
  const items = (schema.items ?? true) as Schema;
  return { ...common, kind: "list", first, items };
}

function objectField(schema: SchemaObject, common: Common): Field {
  const required = new Set(names(schema.required));
  const described = isObject(schema.properties) ? schema.properties : {};
  const rest = (schema.additionalProperties ?? true) as Schema;
  const properties: Property[] = Object.entries(described).map(([name, property]) => ({
    name,
    schema: property as Schema,
    required: required.has(name),
  }));
  for (const name of required)
    if (!Object.hasOwn(described, name)) properties.push({ name, schema: rest, required: true });
  return { ...common, kind: "object", properties, rest };
}
