/** The schema of the language as forms show it: what its fields mean, conditions as text, nodes to choose from. */

import type { Json } from "../../../api/types";
import { isObject, type Schema, type SchemaObject } from "../../../components/SchemaFormModel";

const CONDITION = { type: "string", title: "Condition", description: "CEL, such as output.total > 100" };
/** Fields that name nodes. */
const TARGETS = ["next_nodes", "default", "available_next_nodes", "break_path", "timeout_path", "can_emit_to"];

/** With conditions as text, and nodes to choose from. */
export function partOf(defs: { [name: string]: Json }, name: string, ids: readonly string[]): Schema {
  const $defs = Object.fromEntries(Object.entries(defs).map(([key, one]) => [key, forPeople(key, one, ids)]));
  return { ...($defs[name] as SchemaObject), $defs };
}

function forPeople(part: string, schema: Json, ids: readonly string[]): SchemaObject {
  const found = schema as unknown as SchemaObject;
  if (!isObject(found.properties)) return found;
  const properties = Object.fromEntries(
    Object.entries(found.properties).map(([name, one]) => [name, field(part, name, one as SchemaObject, ids)]),
  );
  return { ...found, properties };
}

function field(part: string, name: string, schema: SchemaObject, ids: readonly string[]): SchemaObject {
  const { default: _, ...bare } = schema;
  if (name === "condition") return CONDITION;
  if (name === "loop_back_to") return { enum: [...ids, null], description: "The node itself, if left out" };
  if (TARGETS.includes(name) && ids.length > 0) return { ...listed(bare, ids), description: WORDS[name] };
  const description = WORDS[`${part}.${name}`] ?? WORDS[name];
  // Defaults are told, not written: what is left out stays out of the definition.
  return description === undefined ? schema : { ...schema, description };
}

function listed(schema: SchemaObject, ids: readonly string[]): SchemaObject {
  const list = { type: "array", items: { enum: [...ids] } };
  return Array.isArray(schema.anyOf) ? list : { ...schema, ...list };
}

const WORDS: { [field: string]: string } = {
  next_nodes: "Where a token goes if the condition is true; none ends the path",
  default: "Where it goes if no condition is true",
  available_next_nodes: "What an agent or handler may choose from",
  break_path: "Where it goes when the loop ends; left out: along the branch or edges",
  timeout_path: "Where it goes after the last iteration; left out: the node fails",
  can_emit_to: "The only nodes that it may send tokens to",
  "Loop.max_iterations": "1 to 10,000",
  "Retry.max_attempts": "In all, 1 to 10",
  "Retry.backoff_ms": "Wait after the first attempt, in milliseconds",
  "NodeLimits.deadline_s": "Seconds for one attempt",
  "HumanConfig.timeout_hours": "0: at once; empty: never",
  "HumanConfig.approvers": "Who may decide; none: everyone with the right",
  "HumanConfig.form_schema": "JSON Schema of what the approver fills in",
  "HumanConfig.approval_ui_url": "A service that is told of the approval",
  "Compensator.action": "The handler that takes back what the node did",
};
