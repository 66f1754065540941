import { expect, test } from "vitest";
import type { Approval } from "../../api/types";
import { delegationCopy } from "./DelegateDialog";
import { decisionCopy } from "./decision";

const approval: Approval = {
  id: "o-1:ship",
  run_id: "o-1",
  namespace: "default",
  node: "ship",
  title: "Ship it?",
  status: "open",
  asked_at: 1,
};

test("a plain yes is the same everywhere", () => {
  expect(decisionCopy(approval, { decision: "approve", comment: "" })).toEqual({
    method: "POST",
    path: "/approvals/o-1%3Aship/decide",
    body: { decision: "approve", comment: undefined, data: undefined },
    cli: "plait approve o-1:ship",
    python: 'await engine.approvals.decide("o-1:ship", "approve")',
  });
});

test("a no in another namespace carries its comment, quoted for each tool", () => {
  const copy = decisionCopy({ ...approval, namespace: "shop" }, { decision: "reject", comment: "it's late" });
  expect(copy.path).toBe("/approvals/o-1%3Aship/decide?namespace=shop");
  expect(copy.cli).toBe("plait approve o-1:ship --reject --comment 'it'\\''s late' -n shop");
  expect(copy.python).toBe(
    'await engine.approvals.decide("o-1:ship", "reject", comment="it\'s late", namespace="shop")',
  );
});

test("form data goes into the command line, too", () => {
  const copy = decisionCopy(approval, { decision: "approve", data: { ok: true } });
  expect(copy.cli).toBe("plait approve o-1:ship --data '{\"ok\":true}'");
  expect(copy.python).toBe('await engine.approvals.decide("o-1:ship", "approve", data={"ok": True})');
});

test("a delegation is the same as a command and in Python", () => {
  const copy = delegationCopy(approval, { to: "ben", by: "ada", comment: "on leave" });
  expect(copy.cli).toContain("--delegate-to ben --by ada --comment 'on leave'");
  expect(copy.python).toContain('"ben", by="ada", comment="on leave"');
});
