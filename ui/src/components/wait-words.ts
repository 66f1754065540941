/** What a run waits for, in a few words: "approval by boss", "sleep until 12:00", "retry 2 of 5 of charge at 10:02:13". */

import type { Reason } from "../api/types";
import { moment } from "./format";

export function waitWords({ kind, text, until }: Reason): string {
  const what = text.replaceAll("`", "");
  return until === undefined ? what : `${what} ${kind === "retry" ? "at" : "until"} ${moment(until)}`;
}

const NAMED: ReadonlySet<Reason["kind"]> = new Set(["approval", "callback", "child", "message", "retry", "sleep"]);

/** What stands before it: "Waiting for" what the words name, "Waiting:" where they are a sentence of their own. */
export function waitLead({ kind, text }: Pick<Reason, "kind" | "text">): string {
  if (kind === "step") return "Now";
  return NAMED.has(kind) && !SENTENCE.test(text) ? "Waiting for" : "Waiting:";
}

/** "`charge` waits until 12:00", "step `charge` waits for child run `c-1`", "starts at 12:00". */
const SENTENCE = /^(step )?`[^`]*` (waits|is)\b|^starts at /;
