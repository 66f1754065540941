/**
 * What a run's dialect adds to its view. The page asks what is there, never which dialect it is: parts that it knows how
 * to show get a tab of their own, and what remains is shown as JSON.
 */

import type { GoalsPlan } from "../../../api/goals";
import type { Json, Millis, View } from "../../../api/types";
import { isObject } from "../../../components/SchemaFormModel";

export interface AttributeValue {
  value: Json;
  /** Absent: it was given at the start. */
  step?: string;
  set_at: Millis;
}
export type AttributeValues = { [name: string]: AttributeValue[] };
export interface PlanDiff {
  planned?: string[];
  completed?: string[];
  failed?: string[];
  skipped?: { [step: string]: string };
  not_started?: string[];
  winners?: { [name: string]: string };
  late?: { [name: string]: string[] };
}
export type PlanSummary = Partial<Pick<GoalsPlan, "goals" | "excluded" | "required" | "warnings">>;
export interface Details {
  /** Every value of each name, the one that counts first. */
  attributes?: AttributeValues;
  plan_diff?: PlanDiff;
  plan?: PlanSummary;
  /** What this page has no picture for. */
  other?: { [part: string]: Json };
}

export function detailsOf({ details }: Pick<View, "details">): Details {
  const { attributes, plan_diff, plan, ...other } = details ?? {};
  return {
    attributes: part<AttributeValues>(attributes),
    plan_diff: part<PlanDiff>(plan_diff),
    plan: part<PlanSummary>(plan),
    other: Object.keys(other).length > 0 ? other : undefined,
  };
}

function part<T>(value: Json | undefined): T | undefined {
  return isObject(value) ? (value as T) : undefined;
}
