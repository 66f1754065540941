import { expect, test } from "vitest";
import { waitLead } from "./wait-words";

test.each([
  ["approval", "approval `boss`", "Waiting for"],
  ["child", "child run `c-1`", "Waiting for"],
  ["child", "step `charge` waits for child run `c-1`", "Waiting:"],
  ["sleep", "`charge` waits until 12:00:00", "Waiting:"],
  ["sleep", "`charge` is throttled until 12:00:00", "Waiting:"],
  ["sleep", "starts at 12:00:00", "Waiting:"],
  ["input", "`deliver` waits for `parcel` from `pack`", "Waiting:"],
  ["starting", "not started yet: no engine has taken it up", "Waiting:"],
  ["queue", "no worker on queue `gpu` for step `render`", "Waiting:"],
  ["task", "`render` claimed by `w-1`", "Waiting:"],
  ["step", "step `charge` running", "Now"],
] as const)("a reason of kind %s, %s, begins with %s", (kind, text, lead) => {
  expect(waitLead({ kind, text })).toBe(lead);
});
