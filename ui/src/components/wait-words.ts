/** What a run waits for, in a few words: "approval by boss", "sleep until 12:00", "retry 2 of 5 of charge at 10:02:13". */

import type { Reason } from "../api/types";
import { moment } from "./format";

export function waitWords({ kind, text, until }: Reason): string {
  const what = text.replaceAll("`", "");
  return until === undefined ? what : `${what} ${kind === "retry" ? "at" : "until"} ${moment(until)}`;
}

/** What stands before it: "Waiting for" what will come, "Waiting:" where the words are a sentence of their own. */
export function waitLead(kind: Reason["kind"]): string {
  if (kind === "step") return "Now";
  return kind === "queue" || kind === "task" ? "Waiting:" : "Waiting for";
}
