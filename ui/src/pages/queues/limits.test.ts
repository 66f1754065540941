import { expect, test } from "vitest";
import { fieldsOf, isSound, limitsBody, limitsCommand, limitWords } from "./limits";

const QUEUE = {
  name: "emails",
  namespace: "default",
  limits: { concurrency: 5, rate: 50, period_ms: 60_000, partitioned: true },
};

test("limits are told in words", () => {
  expect(limitWords(QUEUE.limits)).toEqual(["5 at once", "50 per min", "for each key"]);
  expect(limitWords({ rate: 3, period_ms: 1500 })).toEqual(["3 per 1500 ms"]);
  expect(limitWords({})).toEqual([]);
  expect(limitWords(undefined)).toEqual([]);
});

test("a form that is not touched sends the limits that there are", () => {
  expect(JSON.parse(JSON.stringify(limitsBody(fieldsOf(QUEUE))))).toEqual(QUEUE.limits);
});

test("the command says the same", () => {
  expect(limitsCommand("emails", fieldsOf(QUEUE))).toBe(
    "plait queues set emails --concurrency 5 --rate 50/m --partitioned",
  );
});

test("what makes no sense can't be sent", () => {
  const fields = fieldsOf(QUEUE);
  expect(isSound(fields)).toBe(true);
  expect(isSound({ ...fields, concurrency: "" })).toBe(true);
  for (const wrong of ["0", "-1", "1.5", "many"]) expect(isSound({ ...fields, concurrency: wrong })).toBe(false);
  expect(isSound({ ...fields, seconds: "0" })).toBe(false);
  expect(isSound({ ...fields, max_waiting: "0" })).toBe(true);
});
