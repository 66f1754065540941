/** The filter of the runs list and its place in the URL. */

import type { RunFilter } from "../../api/live";
import type { ShownStatus } from "../../api/types";
import type { Query } from "../../shell/router";

export const STATUSES: readonly ShownStatus[] = ["running", "waiting", "blocked", "completed", "failed", "cancelled"];

export interface Filter {
  q: string;
  statuses: ShownStatus[];
  dialect: string;
  definition: string;
  labels: string[];
  parent: string;
}

export const NO_FILTER: Filter = { q: "", statuses: [], dialect: "", definition: "", labels: [], parent: "" };

export function fromUrl(query: URLSearchParams): Filter {
  const named = (query.get("status") ?? "").split(",");
  return {
    q: query.get("q") ?? "",
    statuses: STATUSES.filter((status) => named.includes(status)),
    dialect: query.get("dialect") ?? "",
    definition: query.get("definition") ?? "",
    labels: [...new Set(query.getAll("label").filter(isLabel))],
    parent: query.get("parent") ?? "",
  };
}

/** All of the filter's parameters; empty ones are there too, so that they are removed. */
export function toUrl(filter: Filter): Query {
  return {
    q: filter.q,
    status: filter.statuses.join(","),
    dialect: filter.dialect,
    definition: filter.definition,
    label: filter.labels,
    parent: filter.parent,
  };
}

export function toApi(filter: Filter): RunFilter {
  const { q, statuses, dialect, definition, labels, parent } = filter;
  // To the API every run that has not ended is running, also one that waits.
  const named = statuses.map((status) => (status === "running" ? "working" : status));
  return { q: q.trim(), status: named.join(","), dialect, definition, label: labels, parent };
}

export function isLabel(text: string): boolean {
  return text.indexOf(":") > 0;
}

export function toggled<T>(list: readonly T[], one: T): T[] {
  return list.includes(one) ? list.filter((other) => other !== one) : [...list, one];
}

export function sameFilter(a: Filter, b: Filter): boolean {
  return key(a) === key(b);
}

export function isEmpty(filter: Filter): boolean {
  return sameFilter(filter, NO_FILTER);
}

function key({ q, statuses, dialect, definition, labels, parent }: Filter): string {
  return JSON.stringify([q, [...statuses].sort(), dialect, definition, [...labels].sort(), parent]);
}
