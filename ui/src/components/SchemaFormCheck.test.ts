// @vitest-environment node
import { describe, expect, test } from "vitest";
import { check, closestBranch, isDate, isDateTime } from "./SchemaFormCheck";
import type { Schema } from "./SchemaFormModel";
import { ORDER } from "./SchemaFormOrder.example";
import { aimed, split, within } from "./SchemaFormProblems";

const problems = (schema: Schema, value: Parameters<typeof check>[1]): string[] =>
  check(schema, value).map(({ pointer, message }) => `${pointer}: ${message}`);

describe("checking", () => {
  test("an order with mistakes names each at its place", () => {
    const order = { id: "o", amount: 0, currency: "USD", payment: { type: "card", number: "12" }, lines: [{}] };
    expect(problems(ORDER, order)).toEqual([
      "/id: Must have at least 3 characters.",
      "/amount: Must be more than 0.",
      '/currency: Must be one of "CHF", "EUR".',
      "/payment/number: Must match ^[0-9]{4}$",
      "/lines/0/sku: Required",
    ]);
  });

  test("a good order passes", () => {
    const order = {
      id: "o-1",
      amount: 1,
      address: null,
      payment: { type: "invoice", due: "2026-02-28" },
      lines: [{ sku: "x" }],
    };
    expect(problems(ORDER, order)).toEqual([]);
  });

  test("the branch whose tag fits is the one that is checked", () => {
    expect(
      problems(ORDER, { id: "abc", amount: 1, lines: [{ sku: "x" }], payment: { type: "invoice", due: "soon" } }),
    ).toEqual(["/payment/due: Must be a date such as 2026-03-31."]);
    const list: Schema[] = [{ type: "string" }, { type: "object", required: ["a"] }];
    expect(closestBranch(list, {}, true)).toBe(1);
    expect(closestBranch(list, "x", true)).toBe(0);
  });

  test.each([
    [{ type: "string" }, 5, "Must be a string, not an integer."],
    [{ type: ["string", "null"] }, true, "Must be a string or null, not a boolean."],
    [{ type: "integer" }, 1.5, "Must be an integer."],
    [{ type: "integer", minimum: 2 }, 1, "Must be 2 or more."],
    [{ type: "number", maximum: 2 }, 2.1, "Must be 2 or less."],
    [{ type: "number", exclusiveMaximum: 2 }, 2, "Must be less than 2."],
    [{ type: "number", multipleOf: 0.1 }, 0.25, "Must be a multiple of 0.1."],
    [{ type: "string", maxLength: 2 }, "abc", "Must have at most 2 characters, not 3."],
    [{ const: { a: 1 } }, { a: 2 }, 'Must be {"a":1}.'],
    [{ type: "array", maxItems: 1 }, [1, 2], "Must have at most 1 item, not 2."],
    [{ type: "array", minItems: 1 }, [], "Must have at least 1 item."],
    [{ type: "object", minProperties: 1 }, {}, "Must have at least 1 entry."],
    [false, 1, "No value allowed."],
    [{ type: "string" }, undefined, "Required"],
  ] as [Schema, never, string][])("%j refuses %j", (schema, value, message) => {
    expect(check(schema, value)).toMatchObject([{ pointer: "", message }]);
  });

  test.each([
    [{ type: "number" }, 3],
    [{ type: "number", multipleOf: 0.1 }, 0.3],
    [{ type: "string", maxLength: 2 }, "👍👍"],
    [{ type: "string", pattern: "([" }, "a pattern that is none is the server's to refuse"],
    [{ enum: [{ a: [1] }, 2] }, { a: [1] }],
    [{}, "anything"],
    [true, null],
  ] as [Schema, never][])("%j takes %j", (schema, value) => {
    expect(check(schema, value)).toEqual([]);
  });

  test("tuples check item by item and items: false closes them", () => {
    const pair: Schema = { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false };
    expect(problems(pair, ["a", 1])).toEqual([]);
    expect(problems(pair, ["a", "b"])).toEqual(["/1: Must be an integer, not a string."]);
    expect(problems(pair, ["a", 1, 2])).toEqual(["/2: No value allowed."]);
  });

  test("unique items and unknown names are told", () => {
    expect(problems({ type: "array", uniqueItems: true }, [1, 2, 1])).toEqual(["/2: Duplicate item"]);
    expect(problems({ type: "object", additionalProperties: false }, { "a/b": 1 })).toEqual([
      '/a~1b: Unknown field "a/b".',
    ]);
    expect(problems({ type: "object", additionalProperties: { type: "integer" } }, { x: "y" })).toEqual([
      "/x: Must be an integer, not a string.",
    ]);
  });

  test("dates and times that no calendar has are refused", () => {
    expect([isDate("2026-02-28"), isDate("2026-02-29"), isDate("2026-13-01"), isDate("26-1-1")]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(isDateTime("2026-02-28T10:00:00Z")).toBe(true);
    expect(isDateTime("2026-02-28T10:00:00.123+01:00")).toBe(true);
    expect(isDateTime("2026-02-28T25:00:00Z")).toBe(false);
    expect(isDateTime("2026-02-28T10:00:00")).toBe(false);
  });

  test("unions inside unions stay quick", () => {
    let schema: Schema = { type: "string" };
    let value: Parameters<typeof check>[1] = 5;
    for (let depth = 0; depth < 20; depth++) {
      schema = { anyOf: [{ type: "object", properties: { a: schema } }, { type: "integer" }] };
      value = { a: value };
    }
    expect(check(schema, value)).toHaveLength(1);
  });
});

describe("placing problems", () => {
  const problem = (pointer: string, message = "no") => ({ pointer, message });

  test("each goes to the inner field it is about, the rest stays", () => {
    const found = split([problem("/a"), problem("/a/b"), problem("/x"), problem(""), problem("/a~1c/0")], "", [
      "a",
      "a/c",
    ]);
    expect(found.inner.get("a")).toEqual([problem("/a"), problem("/a/b")]);
    expect(found.inner.get("a/c")).toEqual([problem("/a~1c/0")]);
    expect(found.own).toEqual([problem("/x"), problem("")]);
  });

  test("a name that starts like another is not the other", () => {
    expect(split([problem("/ab")], "", ["a"]).own).toHaveLength(1);
    expect(split([problem("/list/10/x")], "/list", [1, 10]).inner.get("10")).toHaveLength(1);
  });

  test("a missing property is shown at the field that is empty", () => {
    expect(aimed(problem("/order", '"city" is a required property'))).toEqual(problem("/order/city", "Required"));
    expect(aimed(problem("/order", "anything else"))).toEqual(problem("/order", "anything else"));
  });

  test("problems of one part of a request are told from those of the rest", () => {
    expect(within([problem("/input/a"), problem("/input"), problem("/id"), problem("/inputs")], "/input")).toEqual({
      inside: [problem("/a"), problem("")],
      outside: [problem("/id"), problem("/inputs")],
    });
  });
});
