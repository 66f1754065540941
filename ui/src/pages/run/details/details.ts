/**
 * What a run's dialect adds to its view. The page looks at the parts, never at the dialect: those that it knows get a tab
 * of their own, the others are shown as JSON.
 */

import type { GoalsDetails } from "../../../api/schema";
import type { Json, View } from "../../../api/types";
import { isObject } from "../../../components/SchemaFormModel";

export type { AttributeValue } from "../../../api/schema";
export type AttributeValues = GoalsDetails["attributes"];
/** Partial: another dialect, or another version of the server, may send less. */
export type PlanDiff = Partial<GoalsDetails["plan_diff"]>;
export type PlanSummary = Partial<GoalsDetails["plan"]>;
export interface Details {
  attributes?: AttributeValues;
  plan_diff?: PlanDiff;
  plan?: PlanSummary;
  /** Parts without a tab of their own. */
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
