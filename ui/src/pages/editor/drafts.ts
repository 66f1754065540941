/** What was changed and not saved, kept in this tab: looking at another page in between loses nothing. */

import type { Json } from "../../api/types";
import type { Loaded } from "./documents";

const KEY = "plait.draft.";

interface Draft {
  at: string | null;
  value: Json;
}

/** Of the same version; what was changed in an older one is not put onto a newer one unseen. */
export function draftOf(name: string, { at }: Loaded): Json | undefined {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY + name) ?? "null") as Draft | null;
    return found && found.at === (at ?? null) ? found.value : undefined;
  } catch {
    return undefined; // Blocked, or written by another version.
  }
}

/** Without a value it is forgotten. */
export function keepDraft(name: string, { at }: Loaded, value: Json | undefined): void {
  try {
    if (value === undefined) sessionStorage.removeItem(KEY + name);
    else sessionStorage.setItem(KEY + name, JSON.stringify({ at: at ?? null, value } satisfies Draft));
  } catch {
    // Full or blocked: then leaving the page loses it, as the browser warns.
  }
}
