/** Saved views: a filter with a name. The built-in ones are always there; a person's own are kept in the browser. */

import { useState } from "react";
import { type Filter, NO_FILTER, STATUSES } from "./filter";

export interface SavedView {
  name: string;
  filter: Filter;
  own?: boolean;
}

export const BUILT_IN: readonly SavedView[] = [
  { name: "All", filter: NO_FILTER },
  { name: "Running", filter: { ...NO_FILTER, statuses: ["running"] } },
  { name: "Waiting", filter: { ...NO_FILTER, statuses: ["waiting"] } },
  { name: "Failed", filter: { ...NO_FILTER, statuses: ["failed"] } },
  { name: "Blocked", filter: { ...NO_FILTER, statuses: ["blocked"] } },
];

const KEPT = "plait.views";

/** What was kept, leaving out what is not a view: the browser's store may hold anything. */
export function readViews(text: string | null): SavedView[] {
  let found: unknown;
  try {
    found = JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
  if (!Array.isArray(found)) return [];
  return found.flatMap((one: unknown): SavedView[] => {
    if (typeof one !== "object" || one === null) return [];
    const { name, filter } = one as { name?: unknown; filter?: unknown };
    if (typeof name !== "string" || typeof filter !== "object" || filter === null) return [];
    return [{ name, filter: cleaned(filter as { [key: string]: unknown }), own: true }];
  });
}

function cleaned(filter: { [key: string]: unknown }): Filter {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const list = (value: unknown) => (Array.isArray(value) ? value.filter((one) => typeof one === "string") : []);
  const statuses = list(filter.statuses);
  return {
    q: text(filter.q),
    statuses: STATUSES.filter((status) => statuses.includes(status)),
    dialect: text(filter.dialect),
    definition: text(filter.definition),
    labels: list(filter.labels),
    parent: text(filter.parent),
  };
}

export interface Views {
  views: SavedView[];
  save: (name: string, filter: Filter) => void;
  remove: (name: string) => void;
}

export function useViews(): Views {
  const [own, setOwn] = useState(() => readViews(localStorage.getItem(KEPT)));
  const keep = (views: SavedView[]) => {
    localStorage.setItem(KEPT, JSON.stringify(views.map(({ name, filter }) => ({ name, filter }))));
    setOwn(views);
  };
  return {
    views: [...BUILT_IN, ...own],
    save: (name, filter) => keep([...own.filter((view) => view.name !== name), { name, filter, own: true }]),
    remove: (name) => keep(own.filter((view) => view.name !== name)),
  };
}
