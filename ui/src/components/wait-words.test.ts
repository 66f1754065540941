import { expect, test } from "vitest";
import { waitLead } from "./wait-words";

test.each([
  ["approval", "Waiting for"],
  ["queue", "Waiting:"],
  ["task", "Waiting:"],
  ["step", "Now"],
] as const)("a reason of kind %s begins with %s", (kind, lead) => {
  expect(waitLead(kind)).toBe(lead);
});
