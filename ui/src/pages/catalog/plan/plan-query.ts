/** What a plan is asked for: goals and inputs. It is the state of the page, and so it is in the URL. */

import { withQuery } from "../../../api/namespace";
import type { Json } from "../../../api/types";
import { type CopyAction, py, sh } from "../../../components/copy";
import { type Parsed, parseJson } from "../../../components/parse-json";

/** An input as it was typed; an empty text gives nothing yet. */
export interface Given {
  name: string;
  text: string;
}
export interface Asked {
  goals: string[];
  given: Given[];
}

/** `goal=a&goal=b&in=name=text` */
export function askedOf(query: URLSearchParams): Asked {
  const given = new Map<string, string>();
  for (const one of query.getAll("in")) {
    const at = one.indexOf("=");
    if (at > 0) given.set(one.slice(0, at), one.slice(at + 1));
  }
  return { goals: [...new Set(query.getAll("goal"))], given: [...given].map(([name, text]) => ({ name, text })) };
}

export function queryOf({ goals, given }: Asked): { goal: string[]; in: string[] } {
  return { goal: goals, in: given.map(({ name, text }) => `${name}=${text}`) };
}

export function toggled(asked: Asked, id: string): Asked {
  const goals = asked.goals.includes(id) ? asked.goals.filter((goal) => goal !== id) : [...asked.goals, id];
  return { ...asked, goals };
}

/** JSON; where a string is wanted, any text that is no JSON string stands for itself. */
export function readValue(text: string, type: string): Parsed {
  if (type === "string" && !text.trim().startsWith('"')) return { ok: true, value: text };
  return parseJson(text);
}

export type Input = { [name: string]: Json };

export interface Read {
  input: Input;
  problems: { [name: string]: string };
}

export function inputOf(given: readonly Given[], typeOf: (name: string) => string): Read {
  const read: Read = { input: {}, problems: {} };
  for (const { name, text } of given) {
    if (text.trim() === "") continue;
    const value = readValue(text, typeOf(name));
    if (value.ok) read.input[name] = value.value;
    else read.problems[name] = value.error;
  }
  return read;
}

/** A value as one would type it. */
export function textOf(value: Json, type = "any"): string {
  const plain = type === "string" && typeof value === "string" && value !== "" && !value.trim().startsWith('"');
  return plain ? value : JSON.stringify(value);
}

/** Of the field of an input, so that a click on a gap leads to it. */
export function fieldId(name: string): string {
  return `plan-in-${name}`;
}

/** The page that shows this plan. */
export function planPath(goals: readonly string[], given: readonly Given[] = []): string {
  return withQuery("/catalog", { tab: "plan", ...queryOf({ goals: [...goals], given: [...given] }) });
}

export function bodyOf(goals: readonly string[], input: Input): { [key: string]: Json } {
  return { dialect: "goals", definition: { goals: [...goals] }, input };
}

export function planCopy(goals: readonly string[], input: Input, namespace: string | undefined): CopyAction {
  return copy("/plan", ["plait plan", ...goals.map(sh)], "plan = await engine.plan", goals, input, namespace);
}

export function runCopy(goals: readonly string[], input: Input, namespace: string | undefined): CopyAction {
  return copy(
    "/runs",
    ["plait run", sh(`goals:${goals.join(",")}`)],
    "handle = await engine.start",
    goals,
    input,
    namespace,
  );
}

function copy(
  path: string,
  command: string[],
  call: string,
  goals: readonly string[],
  input: Input,
  namespace: string | undefined,
): CopyAction {
  const elsewhere = namespace !== undefined && namespace !== "default" ? namespace : undefined;
  const flags = Object.entries(input).map(([name, value]) => `--input ${sh(`${name}=${JSON.stringify(value)}`)}`);
  if (elsewhere) flags.push(`-n ${sh(elsewhere)}`);
  const args = [`goals(${goals.map(py).join(", ")})`];
  if (Object.keys(input).length > 0) args.push(py(input));
  if (elsewhere) args.push(`namespace=${py(elsewhere)}`);
  return {
    method: "POST",
    path: withQuery(path, { namespace: elsewhere }),
    body: bodyOf(goals, input),
    cli: [...command, ...flags].join(" "),
    python: `${call}(${args.join(", ")})`,
  };
}
