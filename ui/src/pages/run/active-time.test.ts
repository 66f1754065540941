import { expect, test } from "vitest";
import { idleWithin } from "./active-time";

const pause = (start: number, end: number) => ({ start, end, kind: "reopened" }) as const;

test("only the part of a pause inside counts", () => {
  expect(idleWithin(0, 100, [pause(20, 50), pause(90, 200)])).toBe(40);
  expect(idleWithin(0, 10, [pause(20, 50)])).toBe(0);
  expect(idleWithin(60, 90, [pause(20, 50)])).toBe(0);
  expect(idleWithin(0, 100)).toBe(0);
});
