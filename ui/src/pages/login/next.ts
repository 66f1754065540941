/** Where to go after signing in: only a path of this site, whatever a link says. */
export function safeNext(next: string | null): string {
  if (!next) return "/runs";
  try {
    const url = new URL(next, window.location.origin);
    const inside = url.origin === window.location.origin && url.pathname !== "/login";
    return inside ? url.pathname + url.search : "/runs";
  } catch {
    return "/runs";
  }
}
