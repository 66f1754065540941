/** A recording as a template: what the server drafts for the choices that a person made. */

import type { Json } from "../../api/types";

export interface Suggestion {
  id: string;
  step: string;
  pointer: string;
  value: Json;
  ref: string;
  kind: "match" | "text" | "input" | "secret";
  /** In percent. */
  confidence: number;
  why: string;
}

export interface DraftStep {
  name: string;
  tool?: string;
  status: "waiting" | "running" | "completed" | "failed";
  included: boolean;
  reason: string;
  duplicate_of?: string;
  template_name?: string;
  input: Json;
  output?: Json;
  error?: { message: string };
  depends_on?: string[];
}

export interface DraftProblem {
  code: string;
  pointer: string;
  message: string;
  severity: "error" | "warning";
}

export interface Draft {
  steps: DraftStep[];
  suggestions: Suggestion[];
  input_schema: Json;
  problems: DraftProblem[];
  definition: Json;
}

/** What a person has decided, in the words of the API. */
export interface Choices {
  include: string[];
  exclude: string[];
  accept: string[];
  rename: { [name: string]: string };
  title?: string;
}

export const NO_CHOICES: Choices = { include: [], exclude: [], accept: [], rename: {} };

/** A step is in the template or not. */
export function chosen(choices: Choices, { name }: DraftStep, included: boolean): Choices {
  const without = (names: string[]) => names.filter((one) => one !== name);
  const [include, exclude] = [without(choices.include), without(choices.exclude)];
  return included
    ? { ...choices, include: [...include, name], exclude }
    : { ...choices, include, exclude: [...exclude, name] };
}

/** What a person has just chosen holds, even before the server has drafted it. */
export function isIncluded(choices: Choices, { name, included }: DraftStep): boolean {
  if (choices.exclude.includes(name)) return false;
  return included || choices.include.includes(name);
}

export function accepted(choices: Choices, id: string, yes: boolean): Choices {
  const rest = choices.accept.filter((one) => one !== id);
  return { ...choices, accept: yes ? [...rest, id] : rest };
}

export function renamed(choices: Choices, step: string, to: string): Choices {
  const { [step]: _, ...rest } = choices.rename;
  return { ...choices, rename: to === "" || to === step ? rest : { ...rest, [step]: to } };
}

/** Ids that no longer stand for anything, because steps came or went, are not sent again. */
export function stillThere(choices: Choices, draft: Draft): Choices {
  const steps = new Set(draft.steps.map(({ name }) => name));
  const known = (names: string[]) => names.filter((name) => steps.has(name));
  const rename = Object.fromEntries(Object.entries(choices.rename).filter(([name]) => steps.has(name)));
  return { ...choices, include: known(choices.include), exclude: known(choices.exclude), rename };
}

export function sureness(confidence: number): "high" | "medium" | "low" {
  return confidence >= 80 ? "high" : confidence >= 50 ? "medium" : "low";
}

/** How a client is connected to a recording. */
export function clientConfig(origin: string, id: string): string {
  const url = `${origin}/mcp/record/${encodeURIComponent(id)}`;
  return JSON.stringify({ mcpServers: { recording: { type: "http", url } } }, null, 2);
}

/** A name for the template, from the title or the id of the recording. */
export function nameFrom(title: string): string {
  const name = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return name.slice(0, 64) || "recorded";
}
