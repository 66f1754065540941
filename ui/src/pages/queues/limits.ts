/** The limits of a queue: in words, as a form, as a command. */

import type { Queue, QueueLimits } from "../../api/types";
import { sh } from "../../components/copy";

const UNITS: [number, string, string][] = [
  [86_400_000, "d", "day"],
  [3_600_000, "h", "h"],
  [60_000, "m", "min"],
  [1000, "s", "s"],
];

/** `*` stands for all queues of the namespace. */
export function queueName(name: string): string {
  return name === "*" ? "All queues together" : name;
}

export function limitWords(limits: QueueLimits | undefined): string[] {
  if (!limits) return [];
  const { concurrency, per_worker, rate, period_ms = 1000, max_waiting, partitioned } = limits;
  const found: string[] = [];
  if (concurrency !== undefined) found.push(`${concurrency} at once`);
  if (per_worker !== undefined) found.push(`${per_worker} per worker`);
  if (rate !== undefined) found.push(`${rate} per ${period(period_ms)}`);
  if (max_waiting !== undefined) found.push(`at most ${max_waiting} waiting`);
  if (partitioned && found.length) found.push("for each key");
  return found;
}

function period(ms: number): string {
  const [size, , word] = unitOf(ms);
  return ms === size ? word : `${ms / size} ${word}`;
}

function unitOf(ms: number): [number, string, string] {
  return UNITS.find(([size]) => ms >= size && ms % size === 0) ?? [1, "ms", "ms"];
}

/** As the fields of the form hold them: text, empty for no limit. */
export interface LimitFields {
  concurrency: string;
  per_worker: string;
  rate: string;
  seconds: string;
  max_waiting: string;
  partitioned: boolean;
}

export function fieldsOf(queue: Queue): LimitFields {
  const { concurrency, per_worker, rate, period_ms = 1000, max_waiting, partitioned = false } = queue.limits ?? {};
  const text = (count: number | undefined) => (count === undefined ? "" : String(count));
  return {
    concurrency: text(concurrency),
    per_worker: text(per_worker),
    rate: text(rate),
    seconds: String(period_ms / 1000),
    max_waiting: text(max_waiting),
    partitioned,
  };
}

/** What is sent; fields that are empty are left out. */
export function limitsBody(fields: LimitFields) {
  const count = (text: string) => (text.trim() === "" ? undefined : Number(text));
  return {
    concurrency: count(fields.concurrency),
    per_worker: count(fields.per_worker),
    rate: count(fields.rate),
    period_ms: count(fields.rate) === undefined ? undefined : Math.round(Number(fields.seconds) * 1000),
    max_waiting: count(fields.max_waiting),
    partitioned: fields.partitioned || undefined,
  };
}

export function limitsCommand(name: string, fields: LimitFields): string {
  const body = limitsBody(fields);
  const parts = [`plait queues set ${sh(name)}`];
  if (body.concurrency !== undefined) parts.push(`--concurrency ${body.concurrency}`);
  if (body.per_worker !== undefined) parts.push(`--per-worker ${body.per_worker}`);
  if (body.rate !== undefined && body.period_ms !== undefined) {
    const [size, unit] = unitOf(body.period_ms);
    const many = body.period_ms / size;
    parts.push(`--rate ${body.rate}/${many === 1 ? "" : many}${unit}`);
  }
  if (body.max_waiting !== undefined) parts.push(`--max-waiting ${body.max_waiting}`);
  if (body.partitioned) parts.push("--partitioned");
  return parts.join(" ");
}

export function isSound(fields: LimitFields): boolean {
  const whole = (text: string, least: number) =>
    text.trim() === "" || (/^\d{1,9}$/.test(text.trim()) && Number(text) >= least);
  const counts = [fields.concurrency, fields.per_worker, fields.rate].every((text) => whole(text, 1));
  const seconds = Number(fields.seconds);
  return (
    counts && whole(fields.max_waiting, 0) && (fields.rate.trim() === "" || (seconds >= 0.001 && seconds <= 31_622_400))
  );
}
