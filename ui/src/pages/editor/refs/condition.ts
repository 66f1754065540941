/** A `when` as three fields of a form: what is looked at, how, and with what it is compared. */

import type { Json } from "../../../api/types";
import { fieldsOf, textOf } from "../graph/source";

export const OPERATORS = [
  ["eq", "is"],
  ["neq", "is not"],
  ["gt", ">"],
  ["lt", "<"],
  ["gte", "≥"],
  ["lte", "≤"],
  ["in", "is one of"],
  ["exists", "exists"],
  ["missing", "does not exist"],
  ["truthy", "is not empty, false or 0"],
] as const;
export type Operator = (typeof OPERATORS)[number][0];

export interface When {
  ref: string;
  operator: Operator;
  /** As it is typed. */
  value: string;
}

export function takesValue(operator: Operator): boolean {
  return !["exists", "missing", "truthy"].includes(operator);
}

export function readWhen(condition: Json | undefined): When {
  const fields = fieldsOf(condition);
  const ref = textOf(fields.ref) ?? "";
  if (fields.exists !== undefined) return { ref, operator: fields.exists === false ? "missing" : "exists", value: "" };
  const found = OPERATORS.find(([name]) => fields[name] !== undefined);
  if (!found) return { ref, operator: "truthy", value: "" };
  return { ref, operator: found[0], value: shown(fields[found[0]]) };
}

export function writeWhen({ ref, operator, value }: When): Json {
  switch (operator) {
    case "truthy":
      return { ref };
    case "exists":
      return { ref, exists: true };
    case "missing":
      return { ref, exists: false };
    case "in":
      return { ref, in: listed(value) };
    default:
      return { ref, [operator]: typed(value) };
  }
}

/** Text that would be read as something else is shown as JSON. */
function shown(value: Json | undefined): string {
  if (typeof value === "string" && typed(value) === value) return value;
  return JSON.stringify(value ?? null);
}

/** JSON where it is JSON, else text: `7` is a number, `paid` a text. */
export function typed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function listed(text: string): Json[] {
  const found = typed(text);
  if (Array.isArray(found)) return found;
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(typed);
}
