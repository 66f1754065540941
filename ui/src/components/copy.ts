/** The same action for other tools: curl, the command line, Python. */

import { BASE } from "../api/client";
import type { Json } from "../api/types";

export interface CopyAction {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Under /api/v1, with the query. */
  path: string;
  body?: { [key: string]: Json | undefined };
  cli?: string;
  python?: string;
}

/** A word that the shell takes as it is. */
export function sh(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A Python literal. */
export function py(value: Json): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return pyString(value);
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return `[${value.map(py).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([key, one]) => `${pyString(key)}: ${py(one)}`)
    .join(", ")}}`;
}

/** JSON's escapes are Python's too, but for characters beyond the first plane, which JSON.stringify leaves as they are. */
function pyString(text: string): string {
  return JSON.stringify(text);
}

export function curl(action: CopyAction, origin: string): string {
  const lines = [`curl -X ${action.method} ${sh(origin + BASE + action.path)}`];
  // Open servers ignore it; others need it.
  lines.push(`-H "Authorization: Bearer $PLAIT_KEY"`);
  if (action.body !== undefined) {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`-d ${sh(JSON.stringify(action.body))}`);
  }
  return lines.join(" \\\n  ");
}

/** The command, told which server it is about; keys are made on the database itself. */
export function commandLine({ cli }: CopyAction, origin: string): string | undefined {
  return cli === undefined || cli.startsWith("plait keys ") ? cli : `${cli} --db ${sh(origin)}`;
}
