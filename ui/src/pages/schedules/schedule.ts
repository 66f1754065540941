/** A schedule in words, and where it is. */

import { withQuery } from "../../api/namespace";
import type { Schedule } from "../../api/types";
import { type CopyAction, py, sh } from "../../components/copy";
import { span } from "../../components/format";

export function schedulePath(name: string): string {
  return `/schedules/${encodeURIComponent(name)}`;
}

/** "30 9 * * MON-FRI in Europe/Berlin", "every 15 min". */
export function timing({ cron, every_ms, tz = "UTC" }: Pick<Schedule, "cron" | "every_ms" | "tz">): string {
  return every_ms ? `every ${span(every_ms)}` : `${cron} in ${tz}`;
}

/** The name of what it starts, or the beginning of a definition that stands in the schedule itself. */
export function startsWhat({ definition, dialect }: Pick<Schedule, "definition" | "dialect">): string {
  if (typeof definition === "string") return definition;
  const text = JSON.stringify(definition);
  return `${dialect} ${text.length > 60 ? `${text.slice(0, 59)}…` : text}`;
}

/** "Wed 2026-11-18 09:30:00 CET" in the zone of the schedule. */
export function inZone(at: number, zone: string): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  }).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
  const day = `${part("weekday")} ${part("year")}-${part("month")}-${part("day")}`;
  return `${day} ${part("hour")}:${part("minute")}:${part("second")} ${part("timeZoneName")}`;
}

export type Verb = "pause" | "resume" | "trigger" | "delete";

export function actionCopy({ name, namespace }: Pick<Schedule, "name" | "namespace">, verb: Verb): CopyAction {
  const elsewhere = namespace !== "default";
  const path = verb === "delete" ? schedulePath(name) : `${schedulePath(name)}/${verb}`;
  return {
    method: verb === "delete" ? "DELETE" : "POST",
    path: withQuery(path, { namespace: elsewhere ? namespace : undefined }),
    body: verb === "delete" ? undefined : {},
    cli: `plait schedules ${verb} ${sh(name)}${elsewhere ? ` -n ${sh(namespace)}` : ""}`,
    python: `await engine.schedules.${verb}(${py(name)}${elsewhere ? `, namespace=${py(namespace)}` : ""})`,
  };
}

/** Where its runs wait for a slot, and what the queue knows of them; empty if they don't. */
export function queueOf({ queue, priority, partition }: Schedule): string {
  const more = [priority ? `priority ${priority}` : "", partition ? `partition ${partition}` : ""];
  return [queue ?? "", ...more].filter(Boolean).join(", ");
}
