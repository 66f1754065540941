import type { Json } from "../api/types";

export type Parsed = { ok: true; value: Json } | { ok: false; error: string };

/** JSON that a person typed. */
export function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch {
    const word = /^[\w-]+$/.test(text.trim()) ? `; write a string as "${text.trim()}"` : "";
    return { ok: false, error: `Not valid JSON${word}` };
  }
}
