/**
 * What a run's dialect adds to its view. The page looks at the parts, never at the dialect: those that it knows get a tab
 * of their own, the others are shown as JSON.
 */

import type { AflDetails, GoalsDetails, GraphDetails, SourceView } from "../../../api/schema";
import type { Json, View } from "../../../api/types";
import { isObject } from "../../../components/SchemaFormModel";

export type { AttributeValue } from "../../../api/schema";
export type AttributeValues = GoalsDetails["attributes"];
/** Partial: another dialect, or another version of the server, may send less. */
export type PlanDiff = Partial<GoalsDetails["plan_diff"]>;
export type PlanSummary = Partial<GoalsDetails["plan"]>;
/** Tokens, joins and the way they took. */
export type TokenFlow = Pick<GraphDetails, "counter" | "path" | "tokens" | "joins">;
/** Of one step that is wired by references. */
export interface StepFacts {
  flags: string[];
  /** Why it was skipped, and the value that was seen. */
  condition?: Json;
  value?: Json;
  unresolved?: string[];
  raw?: Json;
  iterations?: { total: number; done: number; failed: number; running: number };
}
export interface Details {
  /** Language models worked in it. */
  agents?: boolean;
  flow?: TokenFlow;
  steps?: { [name: string]: StepFacts };
  /** The state and the iterations of each node. */
  tree?: AflDetails["tree"];
  /** How many iterations there were. */
  iteration?: number;
  /** Where the nodes stand in the text of the run's definition. */
  source?: SourceView;
  /** It completed, but not all of its steps did. */
  partial?: boolean;
  /** Of a definition that can be changed while it runs. */
  revision?: number;
  attributes?: AttributeValues;
  plan_diff?: PlanDiff;
  plan?: PlanSummary;
  /** Parts without a tab of their own. */
  other?: { [part: string]: Json };
}

export function detailsOf({ details, agents }: Pick<View, "details" | "agents">): Details {
  const { attributes, plan_diff, plan, tree, source, ...rest } = details ?? {};
  const { steps, rest: unstepped } = stepsOf(rest);
  const { flow, other } = flowOf(unstepped);
  return {
    agents: agents !== undefined,
    flow,
    steps,
    tree: part<AflDetails["tree"]>(tree),
    iteration: typeof rest.iteration === "number" ? rest.iteration : undefined,
    source: part<SourceView>(source),
    partial: rest.partial === true,
    revision: typeof rest.revision === "number" ? rest.revision : undefined,
    attributes: part<AttributeValues>(attributes),
    plan_diff: part<PlanDiff>(plan_diff),
    plan: part<PlanSummary>(plan),
    other: Object.keys(other).length > 0 ? other : undefined,
  };
}

function stepsOf(rest: { [part: string]: Json }): { steps?: Details["steps"]; rest: { [part: string]: Json } } {
  const { mode, hash: _, definition: __, partial: ___, ended_by: ____, levels, steps, ...other } = rest;
  if (typeof mode !== "string" || !Array.isArray(levels) || !isObject(steps)) return { rest };
  return { steps: steps as unknown as Details["steps"], rest: other };
}

function flowOf(rest: { [part: string]: Json }): { flow?: TokenFlow; other: { [part: string]: Json } } {
  const {
    counter,
    path,
    tokens,
    joins,
    revision: _,
    patches: __,
    wf_version: ___,
    dead_letters: ____,
    ...other
  } = rest;
  if (typeof counter !== "number" || !Array.isArray(path) || !Array.isArray(tokens)) return { other: rest };
  return { flow: { counter, path, tokens, joins: Array.isArray(joins) ? joins : [] } as TokenFlow, other };
}

function part<T>(value: Json | undefined): T | undefined {
  return isObject(value) ? (value as T) : undefined;
}
