/**
 * The router: the URL is the state. A page reads its parameters from it and changes it by `navigate` or `setQuery`;
 * links are plain anchors, so that opening in a new tab works.
 */

import { type AnchorHTMLAttributes, type MouseEvent, type Ref, useCallback, useSyncExternalStore } from "react";

export type Query = { [name: string]: string | number | string[] | undefined };

const listeners = new Set<() => void>();
let current = { path: window.location.pathname, search: window.location.search };

function refresh() {
  const { pathname, search } = window.location;
  if (pathname === current.path && search === current.search) return;
  current = { path: pathname, search };
  for (const listener of listeners) listener();
}
window.addEventListener("popstate", refresh);

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export interface Place {
  path: string;
  search: string;
}

export function location(): Place {
  return current;
}

export function useLocation(): Place {
  return useSyncExternalStore(subscribe, location);
}

export function navigate(to: string, { replace = false } = {}): void {
  const target = keepNamespace(to);
  if (replace) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  refresh();
}

/** A chosen namespace travels along with every link. */
function keepNamespace(to: string): string {
  const ns = new URLSearchParams(current.search).get("ns");
  const url = new URL(to, window.location.origin);
  if (ns !== null && !url.searchParams.has("ns")) url.searchParams.set("ns", ns);
  return url.pathname + url.search;
}

/** The query of the URL, and a way to change some of it (undefined or "" removes). */
export function useQuery(): [URLSearchParams, (changes: Query, options?: { push?: boolean }) => void] {
  const { search } = useLocation();
  const set = useCallback((changes: Query, { push = false } = {}) => {
    const params = new URLSearchParams(current.search);
    for (const [name, value] of Object.entries(changes)) {
      params.delete(name);
      if (Array.isArray(value)) for (const one of value) params.append(name, one);
      else if (value !== undefined && value !== "") params.set(name, String(value));
    }
    const text = params.toString();
    const to = current.path + (text ? `?${text}` : "");
    if (push) history.pushState(null, "", to);
    else history.replaceState(null, "", to);
    refresh();
  }, []);
  return [new URLSearchParams(search), set];
}

export type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string; ref?: Ref<HTMLAnchorElement> };

export function Link({ to, onClick, ...rest }: LinkProps) {
  useLocation();
  const href = keepNamespace(to);
  const click = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !plain || rest.target) return;
    event.preventDefault();
    navigate(to);
  };
  return <a {...rest} href={href} onClick={click} />;
}

/** `match("/runs/:id", "/runs/7")` is `{id: "7"}`; undefined when it does not fit. */
export function match(pattern: string, path: string): { [name: string]: string } | undefined {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  if (wanted.length !== given.length) return undefined;
  const params: { [name: string]: string } = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = decode(value);
    else if (part !== value) return undefined;
  }
  return params;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
