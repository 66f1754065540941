import { expect, test } from "vitest";
import type { DeadLetter } from "../../api/types";
import { resolveCopy } from "./ResolveDialog";

const letter: DeadLetter = {
  id: "o-1:charge",
  run_id: "o-1",
  namespace: "shop",
  node: "charge",
  label: "charge",
  attempts: 3,
  error: { code: "task.failed", message: "no" },
  at: 1,
  status: "pending",
};

test("settling a dead letter is the same everywhere", () => {
  expect(resolveCopy(letter, "discard")).toEqual({
    method: "POST",
    path: "/dlq/o-1%3Acharge/discard?namespace=shop",
    cli: "plait dlq discard o-1:charge -n shop",
    python: 'await engine.dlq.discard("o-1:charge", namespace="shop")',
  });
});
