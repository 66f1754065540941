/** What is asked for when a run is started: the request, and the same for other tools. */

import { withQuery } from "../../api/namespace";
import type { Json, StartRun } from "../../api/types";
import { type CopyAction, py, sh } from "../../components/copy";

export interface Request {
  definition: string;
  dialect: string;
  input: Json | undefined;
  id: string;
  labels: string;
  /** In seconds, as typed; empty for none. */
  deadline: string;
}

export function bodyOf({ definition, dialect, input, id, labels, deadline }: Request): StartRun {
  const found = parseLabels(labels);
  return {
    dialect,
    definition,
    input,
    id: id.trim() || undefined,
    labels: Object.keys(found.labels).length > 0 ? found.labels : undefined,
    deadline_ms: secondsOf(deadline).seconds === undefined ? undefined : (secondsOf(deadline).seconds ?? 0) * 1000,
  };
}

/** `team:checkout tier:gold`, also with commas. */
export function parseLabels(text: string): { labels: { [key: string]: string }; problem?: string } {
  const labels: { [key: string]: string } = {};
  for (const part of text.split(/[\s,]+/).filter(Boolean)) {
    const at = part.search(/[:=]/);
    if (at <= 0) return { labels, problem: `${part} is not in the form key:value.` };
    labels[part.slice(0, at)] = part.slice(at + 1);
  }
  return { labels };
}

/** What an id may not be; it stands in paths. */
export function idProblem(id: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused
  return /[/\u0000-\u001f\u007f]/.test(id) ? "An ID can't contain slashes or control characters." : undefined;
}

const UNITS: { [unit: string]: number } = { s: 1, min: 60, m: 60, h: 3600, d: 86_400 };

/** "90", "90 s", "15 min", "2 h", "3 d". */
export function secondsOf(text: string): { seconds?: number; problem?: string } {
  const trimmed = text.trim();
  if (trimmed === "") return {};
  const match = /^(\d+(?:\.\d+)?)\s*(s|min|m|h|d)?$/.exec(trimmed);
  const seconds = Number(match?.[1]) * (UNITS[match?.[2] ?? "s"] ?? 1);
  if (!match || seconds <= 0) return { problem: "Enter a duration such as 90 s, 15 min, 2 h or 3 d." };
  return { seconds: Math.round(seconds * 1000) / 1000 };
}

export function startCopy(request: Request, namespace: string | undefined): CopyAction {
  const body = bodyOf(request);
  const elsewhere = namespace !== undefined && namespace !== "default" ? namespace : undefined;
  const { seconds } = secondsOf(request.deadline);
  const args = [
    py(request.definition),
    request.input === undefined ? "" : py(request.input),
    body.id === undefined ? "" : `id=${py(body.id)}`,
    body.labels === undefined ? "" : `labels=${py(body.labels)}`,
    seconds === undefined ? "" : `deadline=${seconds}`,
    elsewhere ? `namespace=${py(elsewhere)}` : "",
  ].filter(Boolean);
  const flags = [
    request.input === undefined ? "" : sh(JSON.stringify(request.input)),
    body.id === undefined ? "" : `--id ${sh(String(body.id))}`,
    ...Object.entries(body.labels ?? {}).map(([key, value]) => `--label ${sh(`${key}=${value}`)}`),
    seconds === undefined ? "" : `--deadline ${seconds}`,
    elsewhere ? `-n ${sh(elsewhere)}` : "",
  ].filter(Boolean);
  return {
    method: "POST",
    path: withQuery("/runs", { namespace: elsewhere }),
    body,
    cli: ["plait run", sh(request.definition), ...flags].join(" "),
    python: `handle = await engine.start(${args.join(", ")})`,
  };
}
