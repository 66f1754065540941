/** A schedule as it is typed, and as it is sent. */

import { withQuery } from "../../api/namespace";
import type { Json, Schedule, SetSchedule } from "../../api/types";
import { type CopyAction, py, sh } from "../../components/copy";
import { parseJson } from "../../components/parse-json";
import { parseLabels, secondsOf } from "../start/request";

export interface Draft {
  name: string;
  /** A name with a version or tag; or a definition of an existing schedule, which is kept as it is. */
  definition: string | { [key: string]: Json };
  dialect: string | undefined;
  input: string;
  by: "cron" | "every";
  cron: string;
  every: string;
  tz: string;
  overlap: NonNullable<SetSchedule["overlap"]>;
  catchup: string;
  labels: string;
  deadline: string;
  queue: string;
  priority: string;
  partition: string;
}

export type Wrong = { [name in keyof Draft]?: string };

export const EMPTY: Draft = {
  name: "",
  definition: "",
  dialect: undefined,
  input: "null",
  by: "cron",
  cron: "0 9 * * MON-FRI",
  every: "1 h",
  tz: "UTC",
  overlap: "skip",
  catchup: "60 s",
  labels: "",
  deadline: "",
  queue: "",
  priority: "0",
  partition: "",
};

export function draftOf(schedule: Schedule): Draft {
  return {
    name: schedule.name,
    definition: schedule.definition as Draft["definition"],
    dialect: schedule.dialect ?? undefined,
    input: JSON.stringify(schedule.input ?? null, null, 2),
    by: schedule.every_ms ? "every" : "cron",
    cron: schedule.cron ?? EMPTY.cron,
    every: schedule.every_ms ? `${schedule.every_ms / 1000} s` : EMPTY.every,
    tz: schedule.tz ?? "UTC",
    overlap: schedule.overlap ?? "skip",
    catchup: `${(schedule.catchup_ms ?? 60_000) / 1000} s`,
    labels: Object.entries(schedule.labels ?? {})
      .map(([key, value]) => `${key}:${value}`)
      .join(" "),
    deadline: schedule.deadline_ms ? `${schedule.deadline_ms / 1000} s` : "",
    queue: schedule.queue ?? "",
    priority: String(schedule.priority ?? 0),
    partition: schedule.partition ?? "",
  };
}

/** When it is due, as the server is asked for a preview. */
export function timingOf({ by, cron, every, tz }: Draft): { cron?: string; every_ms?: number; tz: string } {
  const zone = tz.trim() || "UTC";
  return by === "cron" ? { cron: cron.trim(), tz: zone } : { every_ms: millis(every), tz: zone };
}

export function bodyOf(draft: Draft): SetSchedule {
  const input = parseJson(draft.input);
  return {
    definition: draft.definition,
    dialect: draft.dialect,
    input: input.ok ? input.value : null,
    ...timingOf(draft),
    overlap: draft.overlap,
    catchup_ms: /^0\s*\w*$/.test(draft.catchup.trim()) ? 0 : (millis(draft.catchup) ?? 60_000),
    labels: parseLabels(draft.labels).labels,
    deadline_ms: millis(draft.deadline),
    queue: draft.queue.trim() || undefined,
    priority: Number(draft.priority.trim()) || undefined,
    partition: draft.partition.trim() || undefined,
  };
}

export function wrongIn(draft: Draft): Wrong {
  const input = parseJson(draft.input);
  const catchup = /^0\s*\w*$/.test(draft.catchup.trim()) ? undefined : secondsOf(draft.catchup).problem;
  return {
    name: /^[A-Za-z0-9][\w.-]{0,99}$/.test(draft.name)
      ? undefined
      : "Use letters, digits, -, _ and ., beginning with a letter or digit.",
    definition: draft.definition === "" ? "Required" : undefined,
    input: input.ok ? undefined : input.error,
    every: draft.by === "every" ? (secondsOf(draft.every).problem ?? required(draft.every)) : undefined,
    cron: draft.by === "cron" ? required(draft.cron) : undefined,
    catchup: catchup ?? required(draft.catchup),
    labels: parseLabels(draft.labels).problem,
    deadline: secondsOf(draft.deadline).problem,
    priority: /^-?\d{0,10}$/.test(draft.priority.trim()) ? undefined : "A whole number; lower goes first",
  };
}

function required(text: string): string | undefined {
  return text.trim() === "" ? "Required" : undefined;
}

function millis(text: string): number | undefined {
  const { seconds } = secondsOf(text);
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}

export function saveCopy(draft: Draft, namespace: string | undefined): CopyAction {
  const body = bodyOf(draft);
  const elsewhere = namespace !== undefined && namespace !== "default" ? namespace : undefined;
  const what = typeof draft.definition === "string" ? draft.definition : undefined;
  const seconds = (ms: number | null | undefined) => (ms ?? 0) / 1000;
  const args = [
    py(draft.name),
    py(what ?? ""),
    body.input === null ? "" : py(body.input as Json),
    body.cron ? `cron=${py(body.cron)}` : `every=${seconds(body.every_ms)}`,
    `tz=${py(body.tz ?? "UTC")}`,
    `overlap=${py(body.overlap ?? "skip")}`,
    `catchup=${seconds(body.catchup_ms)}`,
    Object.keys(body.labels ?? {}).length > 0 ? `labels=${py(body.labels ?? {})}` : "",
    body.deadline_ms ? `deadline=${seconds(body.deadline_ms)}` : "",
    body.queue ? `queue=${py(body.queue)}` : "",
    body.priority ? `priority=${body.priority}` : "",
    body.partition ? `partition=${py(body.partition)}` : "",
    elsewhere ? `namespace=${py(elsewhere)}` : "",
    "replace=True",
  ].filter(Boolean);
  const flags = [
    body.cron ? `--cron ${sh(body.cron)}` : `--every ${seconds(body.every_ms)}s`,
    `--tz ${sh(body.tz ?? "UTC")}`,
    body.input === null ? "" : `--input ${sh(JSON.stringify(body.input))}`,
    `--overlap ${body.overlap}`,
    `--catchup ${seconds(body.catchup_ms)}s`,
    ...Object.entries(body.labels ?? {}).map(([key, value]) => `--label ${sh(`${key}=${value}`)}`),
    body.deadline_ms ? `--deadline ${seconds(body.deadline_ms)}s` : "",
    body.queue ? `--queue ${sh(body.queue)}` : "",
    body.priority ? `--priority ${body.priority}` : "",
    body.partition ? `--partition ${sh(body.partition)}` : "",
    elsewhere ? `-n ${sh(elsewhere)}` : "",
  ].filter(Boolean);
  return {
    method: "PUT",
    path: withQuery(`/schedules/${encodeURIComponent(draft.name)}`, { namespace: elsewhere }),
    body: body as unknown as { [key: string]: Json },
    ...(what !== undefined && {
      cli: ["plait schedules set", sh(draft.name), sh(what), ...flags].join(" "),
      python: `await engine.schedules.create(${args.join(", ")})`,
    }),
  };
}
