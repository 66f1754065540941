/** The JSON shapes of the goals dialect: catalogs of steps, plans, and what a run of them adds to its picture. */

import type { Json, Millis } from "./types";

export type StepType = "sync" | "async" | "script" | "flow" | "python" | "run";
export type AttributeRole = "required" | "optional" | "output" | "const" | "meta";
export type HealthStatus = "unknown" | "healthy" | "unhealthy";

export interface Script {
  language: string;
  script: string;
}
/** What a role says of its attribute; absent is its default. */
export interface AttributeDetail {
  /** A text that holds JSON. */
  default?: string;
  for_each?: boolean;
  collect?: "first" | "last" | "some" | "all" | "none";
  match?: Script;
  deadline?: Millis;
  mapping?: { name?: string; script?: Script };
  /** A text that holds JSON. */
  value?: string;
  key?: string;
}
export type Attribute = { role: AttributeRole; type?: string } & { [role in AttributeRole]?: AttributeDetail };

export interface WorkConfig {
  max_retries?: number;
  init_backoff?: Millis;
  max_backoff?: Millis;
  backoff_type?: "fixed" | "linear" | "exponential";
  parallelism?: number;
  retry?: "" | "never";
  retry_statuses?: number[];
}
export interface Step {
  id: string;
  name: string;
  type: StepType;
  attributes?: { [name: string]: Attribute };
  work_config?: WorkConfig;
  predicate?: Script & { scope?: "both" | "step" | "item" };
  http?: {
    endpoint: string;
    method?: string;
    timeout?: Millis;
    health_check?: string;
    compensate?: string;
    callback_timeout?: Millis;
    recall?: boolean;
  };
  script?: Script;
  flow?: { goals: string[] };
  python?: { handler: string; queue?: string; timeout?: Millis; compensate?: string };
  run?: { dialect: string; definition: Json };
  memoizable?: boolean;
  labels?: { [key: string]: string };
}

export interface Links {
  providers: string[];
  consumers: string[];
}
export interface Health {
  status: HealthStatus;
  error?: string;
}
export interface Catalog {
  steps: Step[];
  attributes: { [name: string]: Links };
  health: { [step: string]: Health };
  last_updated: Millis;
  sequence: number;
}
/** Who is left without a provider, by name, and the flow steps whose goal is gone. */
export interface Removal {
  orphans: { [name: string]: string[] };
  flows: string[];
}

export interface Excluded {
  /** Could provide, but lack these names. */
  missing?: { [step: string]: string[] };
  /** All that they give is given already. */
  satisfied?: { [step: string]: string[] };
  /** Want none of these names, which are given. */
  blocked?: { [step: string]: string[] };
}
export interface GoalsPlan {
  goals: string[];
  steps: { [step: string]: Step };
  attributes?: { [name: string]: Links };
  required?: string[];
  excluded?: Excluded;
  children?: { [step: string]: GoalsPlan };
  warnings?: string[];
}
export interface Planned {
  dialect: string;
  definition: string;
  valid: boolean;
  notes?: string[];
  plan: GoalsPlan;
}

export interface AttributeValue {
  value: Json;
  /** Absent: it was given at the start. */
  step?: string;
  set_at: Millis;
}
export interface PlanDiff {
  planned?: string[];
  completed?: string[];
  failed?: string[];
  skipped?: { [step: string]: string };
  not_started?: string[];
  winners?: { [name: string]: string };
  late?: { [name: string]: string[] };
}
/** What a goals run adds to its picture. */
export interface GoalsDetails {
  attributes?: { [name: string]: AttributeValue[] };
  plan_diff?: PlanDiff;
  plan?: { goals?: string[]; excluded?: Excluded; required?: string[]; warnings?: string[] };
}
