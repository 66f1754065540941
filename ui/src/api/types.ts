/** The JSON shapes of the HTTP API, as the server sends them. Times are milliseconds since 1970 UTC. */

import type { GoalsDetails } from "./goals";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Millis = number;

export type RunStatus = "running" | "completed" | "failed" | "cancelled";
/** What people see: a running run that can't go on is "blocked". */
export type ShownStatus = RunStatus | "blocked";
export type NodeStatus =
  | "pending"
  | "running"
  | "waiting"
  | "retrying"
  | "completed"
  | "failed"
  | "skipped"
  | "cancelled"
  | "blocked";
export type Role = "viewer" | "operator" | "editor" | "approver" | "worker" | "admin";
export type Action = "cancel" | "retry" | "resume" | "fork" | "message" | "compensate" | "rewind" | "patch";

export interface ErrorInfo {
  code: string;
  message: string;
  kind?: string;
  type?: string;
  args?: Json[];
  attrs?: { [name: string]: Json };
  cause?: ErrorInfo;
  parts?: { [name: string]: ErrorInfo };
  ops?: string[];
  trace?: string;
  why?: string;
  fix?: string;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  why?: string;
  fix?: string;
  errors?: FieldProblem[];
}
export interface FieldProblem {
  code: string;
  pointer: string;
  message: string;
}

export interface Run {
  id: string;
  namespace: string;
  dialect: string;
  definition: string;
  version?: string;
  status: RunStatus;
  blocked?: ErrorInfo;
  labels?: { [key: string]: string };
  parent?: string;
  parent_node?: string;
  created_at: Millis;
  ended_at?: Millis;
  deadline?: Millis;
  error?: ErrorInfo;
}
export interface RunPage {
  runs: Run[];
  next?: string;
}

export interface Node {
  id: string;
  kind: string;
  label: string;
  status: NodeStatus;
  parent?: string;
  attempts?: number;
  started_at?: Millis;
  ended_at?: Millis;
  input?: Json;
  output?: Json;
  error?: ErrorInfo;
  skip_reason?: string;
  detail?: string;
  child?: string;
  token?: string;
}
export interface Edge {
  source: string;
  target: string;
  label?: string;
  /** Of several that could have brought it, the one that did. */
  chosen?: boolean;
}
export interface View {
  run_id: string;
  namespace: string;
  dialect: string;
  definition: string;
  version?: string;
  status: RunStatus;
  nodes: Node[];
  edges: Edge[];
  blocked?: ErrorInfo;
  /** Of a run of goals. */
  details?: GoalsDetails;
}
export interface Reason {
  kind: string;
  text: string;
  node?: string;
  until?: Millis;
}
export interface RunDetail {
  run: Run;
  input: Json;
  output?: Json;
  view: View;
  waiting: Reason[];
  seq: number;
  at?: number;
  actions: Action[];
}

export interface Event {
  seq: number;
  at: Millis;
  type: string;
  data: { [key: string]: Json };
}
export interface EventPage {
  events: Event[];
  next?: number;
}

export type Outcome = "running" | "completed" | "failed" | "cancelled" | "timed_out";
export interface Try {
  number: number;
  queued_at?: Millis;
  started_at: Millis;
  ended_at?: Millis;
  outcome: Outcome;
  error?: ErrorInfo;
  retry_at?: Millis;
}
export interface Bar {
  node: string;
  label: string;
  kind: string;
  parent?: string;
  status: NodeStatus;
  started_at?: Millis;
  ended_at?: Millis;
  tries: Try[];
}
export interface Timeline {
  bars: Bar[];
  now: Millis;
}

export type Level = "debug" | "info" | "warning" | "error";
export interface LogLine {
  id: number;
  at: Millis;
  node: string;
  attempt: number;
  level: Level;
  text: string;
}
export interface LogPage {
  lines: LogLine[];
  next?: number;
}

export type ChangeKind = "added" | "removed" | "changed";
export interface Change {
  path: string;
  kind: ChangeKind;
  a?: Json;
  b?: Json;
}
export interface NodeDiff {
  id: string;
  label: string;
  kind: string;
  change: "same" | "changed" | "only_a" | "only_b";
  a?: Node;
  b?: Node;
  changes: Change[];
}
export interface RunDiff {
  a: Run;
  b: Run;
  input: Change[];
  output: Change[];
  nodes: NodeDiff[];
}

/** A JSON Schema, read by the form builder; only what it understands is named. */
export interface Schema {
  [keyword: string]: Json | undefined;
}

export interface Approval {
  id: string;
  run_id: string;
  namespace: string;
  node: string;
  title: string;
  by?: string;
  asked_at: Millis;
  deadline?: Millis;
  form?: Schema;
  evidence?: Json;
}

export interface DeadLetter {
  id: string;
  run_id: string;
  namespace: string;
  node: string;
  label: string;
  attempts: number;
  error: ErrorInfo;
  at: Millis;
  status: "pending" | "retried" | "discarded";
}

export interface Version {
  version: string;
  hash: string;
  created_at: Millis;
  loaded: boolean;
}
export interface Definition {
  name: string;
  dialect: string;
  version?: string;
  loaded: boolean;
  doc?: string;
  input_schema?: Schema;
  output_schema?: Schema;
  tags: { [tag: string]: string };
  versions: Version[];
}
export interface DefinitionVersion extends Version {
  name: string;
  dialect: string;
  doc?: string;
  source?: string;
  file?: string;
  input_schema?: Schema;
  output_schema?: Schema;
}
export interface Plan {
  dialect: string;
  definition: string;
  version?: string;
  valid: true;
  input?: Json;
  notes: string[];
  view?: View;
}

export interface Me {
  name: string;
  role: Role;
  /** "*" for all. */
  namespace: string;
  mode: "open" | "key" | "token" | "session";
  version: string;
  namespaces: string[];
  actions?: string[];
}
export interface Key {
  id: string;
  name: string;
  role: Role;
  namespace: string;
  created_at: Millis;
  expires_at?: Millis;
  revoked_at?: Millis;
  last_used_at?: Millis;
}
export interface NewKey extends Key {
  /** Shown once. */
  key: string;
}
export interface AuditEntry {
  id: number | string;
  at: Millis;
  who: string;
  role: string;
  namespace: string;
  action: string;
  target?: string;
  outcome: "ok" | "refused";
  code?: string;
}
export interface AuditPage {
  entries: AuditEntry[];
  next?: string;
}

export interface Started {
  id: string;
  namespace: string;
  status: RunStatus;
}
export interface SignedLink {
  url: string;
  expires_at: Millis;
}
