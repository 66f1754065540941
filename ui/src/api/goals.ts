/** The JSON of the goals dialect under the names that the pages use: catalogs of steps, plans, and what runs add. */

import type { Planned as AnyPlanned, Attribute, Links, Step, StepHealth } from "./schema";

export type {
  Attribute,
  Catalog,
  Detail as AttributeDetail,
  Links,
  Removed as Removal,
  Script,
  Step,
  StepHealth as Health,
  WorkConfig,
} from "./schema";

export type StepType = Step["type"];
export type AttributeRole = Attribute["role"];
export type HealthStatus = StepHealth["status"];
export interface Excluded {
  /** Could provide, but lack these names. */
  missing?: { [step: string]: string[] };
  /** All their outputs are given already. */
  satisfied?: { [step: string]: string[] };
  /** Must not have these names, which are given. */
  blocked?: { [step: string]: string[] };
}
/** The API says nothing about a plan's shape: it is the dialect's own. */
export interface GoalsPlan {
  goals: string[];
  steps: { [step: string]: Step };
  attributes?: { [name: string]: Links };
  required?: string[];
  excluded?: Excluded;
  children?: { [step: string]: GoalsPlan };
  warnings?: string[];
}
export type Planned = Omit<AnyPlanned, "plan"> & { plan: GoalsPlan };
