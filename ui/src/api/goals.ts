/** The JSON of the goals dialect under the names that the pages use: catalogs of steps, and plans. */

import type { RunPlan as AnyPlanned, Attribute, Plan, Step, StepHealth } from "./schema";

export type {
  Attribute,
  CatalogDetail as Catalog,
  Detail as AttributeDetail,
  Links,
  Plan as GoalsPlan,
  RemovedStep as Removal,
  Script,
  Step,
  StepHealth as Health,
  WorkConfig,
} from "./schema";

export type StepType = Step["type"];
export type AttributeRole = Attribute["role"];
export type HealthStatus = StepHealth["status"];
/** The plan of goals; to the route itself a plan is any JSON. */
export type Planned = Omit<AnyPlanned, "plan"> & { plan: Plan };
