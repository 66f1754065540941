// @vitest-environment node
import { expect, test } from "vitest";
import { jsonPositions, lineAt, placeOf } from "./jsonPositions";

const TEXT = `{
  "id": "double",
  "attributes": {
    "x/y": {"role": "required"}
  },
  "goals": ["a", "b"]
}`;

const lineOf = (pointer: string) => lineAt(TEXT, placeOf(jsonPositions(TEXT), pointer)) + 1;

test("a pointer leads to the line of its key", () => {
  expect(["/id", "/attributes", "/attributes/x~1y/role", "/goals/1"].map(lineOf)).toEqual([2, 3, 4, 6]);
  expect(TEXT.slice(placeOf(jsonPositions(TEXT), "/goals/1"))).toMatch(/^"b"/);
});

test("what is missing is shown at what it is missing from", () => {
  expect(["/name", "/attributes/x~1y/type", ""].map(lineOf)).toEqual([1, 4, 1]);
});

test.each([
  ['{"a": 1,}', 8, "a name in quotes"],
  ["{'a': 1}", 1, "a name in quotes"],
  ['{"a" 1}', 5, "expected :"],
  ['{"a": "x\n"}', 6, "unterminated string"],
  ['{"a": tru}', 6, "expected a value"],
  ["[1 2]", 3, "expected a comma or ]"],
  ["{} x", 3, "unexpected text after the end"],
  ["", 0, "unexpected end"],
  ["[".repeat(5000), 201, "too deep"],
])("%j is broken at %d", (text, offset, words) => {
  const { broken } = jsonPositions(text);
  expect(broken).toMatchObject({ offset, message: expect.stringContaining(words) });
});

test("whatever is JSON is not broken", () => {
  for (const value of [null, true, -1.5e-7, "\\ \u0001 é 😀", [], {}, [[1, { a: { "": [null] } }]]]) {
    expect(jsonPositions(JSON.stringify(value, null, 3)).broken).toBeUndefined();
  }
});
