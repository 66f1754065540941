/** A schema in words: labels, types and limits as a person reads them. */

import { escapePointer } from "./JsonDiffModel";
import { type Field, fieldOf, isObject, type Schema, type SchemaObject, typesOf } from "./SchemaFormModel";

/** The title that a place gives itself, else its name. The title of a type it refers to ("Address") says less. */
export function labelOf(schema: Schema, name: string): string {
  if (isObject(schema) && typeof schema.title === "string" && schema.title !== "") return schema.title;
  return spoken(name);
}

/** `customer_email` and `customerEmail` as "Customer email". */
export function spoken(name: string): string {
  if (!/^[A-Za-z][\w-]*$/.test(name)) return name;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .trim();
  const low = /^[A-Z0-9 ]+$/.test(words) ? words : words.toLowerCase();
  return low.charAt(0).toUpperCase() + low.slice(1);
}

export function typeText(schema: Schema, root: Schema): string {
  const field = fieldOf(schema, root);
  const text = kindText(field, root);
  return field.nullable ? `${text} or null` : text;
}

function kindText(field: Field, root: Schema): string {
  switch (field.kind) {
    case "text":
      return field.format === "date" ? "date" : field.format === "date-time" ? "date and time" : "string";
    case "number":
      return field.integer ? "integer" : "number";
    case "boolean":
      return "boolean";
    case "const":
      return `always ${JSON.stringify(field.value)}`;
    case "choice":
      return `one of ${field.options.map((option) => JSON.stringify(option)).join(", ")}`;
    case "list":
      return field.first.length > 0 ? `list of ${field.first.length}` : `list of ${listed(field.items, root)}`;
    case "object":
      if (typeof field.schema.title === "string") return field.schema.title;
      return field.properties.length === 0 && isObject(field.rest)
        ? `map of ${kindText(fieldOf(field.rest, root), root)}`
        : "object";
    case "union":
      return field.alternatives.map(({ label }) => label).join(" or ");
    case "any":
      return "any JSON";
  }
}

function listed(items: Schema, root: Schema): string {
  const field = fieldOf(items, root);
  return field.kind === "list" ? "lists" : kindText(field, root);
}

/** What the keywords allow, such as "3 to 20 characters" or "more than 0". */
export function limitsOf(schema: SchemaObject): string {
  const types = typesOf(schema);
  const out: string[] = [];
  const put = (text: string | undefined): void => void (text && out.push(text));
  if (types.includes("string")) {
    put(range(schema.minLength, schema.maxLength, "characters"));
    if (typeof schema.pattern === "string") put(`matches ${schema.pattern}`);
  }
  if (types.includes("integer") || types.includes("number")) {
    put(range(schema.minimum, schema.maximum, ""));
    if (typeof schema.exclusiveMinimum === "number") put(`more than ${schema.exclusiveMinimum}`);
    if (typeof schema.exclusiveMaximum === "number") put(`less than ${schema.exclusiveMaximum}`);
    if (typeof schema.multipleOf === "number") put(`a multiple of ${schema.multipleOf}`);
  }
  if (types.includes("array")) put(range(schema.minItems, schema.maxItems, "items"));
  return out.join(", ");
}

function range(least: unknown, most: unknown, unit: string): string | undefined {
  const tail = unit ? ` ${unit}` : "";
  if (typeof least === "number" && typeof most === "number") return `${least} to ${most}${tail}`;
  if (typeof least === "number" && least > (unit ? 1 : Number.NEGATIVE_INFINITY)) return `${least} or more${tail}`;
  if (typeof most === "number") return `at most ${most}${tail}`;
  return undefined;
}

/** One line of a schema that is read, not filled in. */
export interface SchemaLine {
  pointer: string;
  name: string;
  depth: number;
  type: string;
  required: boolean;
  text: string;
}

const DEEPEST = 4;

/** The properties of a schema as lines, those inside indented. */
export function linesOfSchema(schema: Schema, root: Schema = schema, pointer = "", depth = 0): SchemaLine[] {
  const field = fieldOf(schema, root);
  if (depth >= DEEPEST) return [];
  if (field.kind === "list") return linesOfSchema(field.items, root, `${pointer}/-`, depth);
  if (field.kind !== "object") return [];
  return field.properties.flatMap((property) => {
    const inner = fieldOf(property.schema, root);
    const place = `${pointer}/${escapePointer(property.name)}`;
    const words = [inner.description, limitsOf(inner.schema), defaultText(inner.schema)].filter(Boolean);
    const line: SchemaLine = {
      pointer: place,
      name: property.name,
      depth,
      type: typeText(property.schema, root),
      required: property.required,
      text: words.join(" · "),
    };
    return [line, ...linesOfSchema(property.schema, root, place, depth + 1)];
  });
}

const LONG = 60;

/** What is taken if nothing is given, unless that is nothing itself or too long to be read in passing. */
export function defaultText(schema: SchemaObject): string {
  const { default: value } = schema;
  if (value === undefined || value === null) return "";
  const text = JSON.stringify(value);
  return ['""', "[]", "{}"].includes(text) || text.length > LONG ? "" : `default ${text}`;
}
