/** What is shown of a model's reply, and what became of a tool call. */

import type { AgentToolCall } from "../../../api/schema";
import type { Json } from "../../../api/types";
import type { AnyStatus } from "../../../components/Status";

/** A final answer is JSON and is shown as such; everything else is text. */
export function replyOf(text: string): { text: string } | { value: Json } | undefined {
  const trimmed = text.trim();
  if (!trimmed) return undefined;
  if (trimmed.startsWith("{") || trimmed.startsWith("[")) {
    try {
      return { value: JSON.parse(trimmed) as Json };
    } catch {
      // Cut off, or only looks like it.
    }
  }
  return { text };
}

/** Shape and colour of a call: one that is denied was not made. */
export function callStatus({ status }: Pick<AgentToolCall, "status">): { status: AnyStatus; word: string } {
  switch (status) {
    case "denied":
      return { status: "blocked", word: "Denied" };
    case "completed":
      return { status, word: "Completed" };
    case "failed":
      return { status, word: "Failed" };
    case "running":
      return { status, word: "Running" };
    case "waiting":
      return { status, word: "Waiting" };
  }
}

/** Why a reply ended, where it did not end by itself. */
export function finishWords(finish: string | undefined): string | undefined {
  switch (finish) {
    case "length":
      return "cut off at the token limit";
    case "refused":
      return "refused by the model";
    default:
      return undefined;
  }
}
