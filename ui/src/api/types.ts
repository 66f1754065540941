/**
 * The JSON of the HTTP API under the names that the pages use. The shapes are generated from the server's OpenAPI
 * document (`make ui-types`); nothing is declared here a second time. Times are milliseconds since 1970 UTC.
 */

import type { Approval, Change, LogLine, Me, Node, Run, RunDetail, Try } from "./schema";

export type {
  Approval,
  ApprovalPage,
  AuditEntry,
  AuditPage,
  Bar,
  Cause,
  Change,
  CreatedKey as NewKey,
  DeadLetter,
  DeadLetterPage,
  Decided,
  Definition,
  DefinitionVersion,
  Diff as RunDiff,
  Edge,
  ErrorInfo,
  EventPage,
  Fire,
  Flaw as FieldProblem,
  FleetOverview,
  Json,
  Key,
  LinkedApproval,
  LogLine,
  LogPage,
  Me,
  Node,
  NodeChange as NodeDiff,
  Pause,
  Problem,
  Queue,
  QueueDetail,
  QueueLimits,
  QueueSlot,
  Reason,
  Recorded as Event,
  Run,
  RunChanges,
  RunDetail,
  RunPage,
  RunPlan as Plan,
  RunRef as Started,
  RunView as View,
  Schedule,
  SchedulePage,
  SetSchedule,
  SignedLink,
  StartRun,
  Timeline,
  Triggered,
  Try,
  Version,
} from "./schema";

export type Millis = number;
export type ApprovalStatus = Approval["status"];
export type RunStatus = Run["status"];
/** What people see: a run that has not ended is running, waiting for something, or "blocked" until someone acts. */
export type ShownStatus = RunStatus | "waiting" | "blocked";
export type NodeStatus = Node["status"];
export type Outcome = Try["outcome"];
export type Role = Me["role"];
export type Action = RunDetail["actions"][number];
export type Level = LogLine["level"];
export type ChangeKind = Change["kind"];
