import { expect, test } from "vitest";
import { safeNext } from "./next";

test("goes back to where one came from", () => {
  expect(safeNext("/runs/7?tab=events")).toBe("/runs/7?tab=events");
});

test.each([
  null,
  "",
  "https://evil.example/x",
  "//evil.example",
  "javascript:alert(1)",
  "http://[",
  "/login?next=/login",
])("%j leads to the runs", (next) => {
  expect(safeNext(next)).toBe("/runs");
});

test("a backslash does not lead away", () => {
  expect(safeNext("/\\evil.example")).toBe("/runs");
});
