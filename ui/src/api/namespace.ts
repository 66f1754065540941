/** The namespace the page looks at. It is in the URL (`ns=`) so that a link shows the same to another person. */

import { location, type Query } from "../shell/router";

const KEPT = "plait.namespace";

export function currentNamespace(): string | undefined {
  return new URLSearchParams(location().search).get("ns") ?? localStorage.getItem(KEPT) ?? undefined;
}

export function keepNamespace(namespace: string | undefined): void {
  if (namespace === undefined) localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, namespace);
}

/** A path with query parameters added; empty ones are left out. */
export function withQuery(path: string, query: Query): string {
  const [base, old] = path.split("?", 2) as [string, string | undefined];
  const params = new URLSearchParams(old);
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    if (Array.isArray(value)) for (const one of value) params.append(key, one);
    else params.set(key, String(value));
  }
  const text = params.toString();
  return text ? `${base}?${text}` : base;
}
