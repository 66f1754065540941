// @vitest-environment node
import { describe, expect, test } from "vitest";
import type { Schema } from "./SchemaFormModel";
import { defaultText, labelOf, limitsOf, linesOfSchema, spoken, typeText } from "./SchemaFormWords";

test.each([
  ["customer_email", "Customer email"],
  ["customerEmail", "Customer email"],
  ["cost-center", "Cost center"],
  ["id", "Id"],
  ["VAT", "VAT"],
  ["Größe €", "Größe €"],
])("%s is spoken as %s", (name, words) => {
  expect(spoken(name)).toBe(words);
});

test("a place is called by its own title, not by that of its type", () => {
  expect(labelOf({ title: "Bill to", $ref: "#/$defs/Address" }, "billing")).toBe("Bill to");
  expect(labelOf({ $ref: "#/$defs/Address" }, "billing")).toBe("Billing");
});

test.each([
  [{ type: "string", minLength: 3, maxLength: 20 }, "3 to 20 characters"],
  [{ type: "string", minLength: 1 }, ""],
  [{ type: "string", pattern: "^a" }, "matches ^a"],
  [{ type: "integer", minimum: 0 }, "0 or more"],
  [{ type: "number", exclusiveMinimum: 0, maximum: 10 }, "at most 10, more than 0"],
  [{ type: "array", minItems: 2 }, "2 or more items"],
])("the limits of %j are %j", (schema, words) => {
  expect(limitsOf(schema)).toBe(words);
});

describe("types in words", () => {
  test.each([
    [{ type: "string" }, "string"],
    [{ type: ["integer", "null"] }, "integer or null"],
    [{ type: "array", items: { type: "string", format: "date" } }, "list of date"],
    [{ enum: ["a", "b"] }, 'one of "a", "b"'],
    [{ type: "object", additionalProperties: { type: "string" } }, "map of string"],
    [{ title: "Cart", type: "object", properties: {} }, "Cart"],
    [{}, "any JSON"],
  ] as [Schema, string][])("%j is %s", (schema, words) => {
    expect(typeText(schema, schema)).toBe(words);
  });
});

test.each([
  [{ default: 0 }, "default 0"],
  [{ default: 21 }, "default 21"],
  [{ default: false }, "default false"],
  [{ default: "" }, ""],
  [{ default: [] }, ""],
  [{ default: null }, ""],
  [{}, ""],
])("the default of %j is told as %j", (schema, words) => {
  expect(defaultText(schema)).toBe(words);
});

test("a schema is read as lines, with what is inside indented, and ends even if it contains itself", () => {
  const tree: Schema = {
    type: "object",
    properties: {
      name: { type: "string", description: "of the node", default: "x" },
      children: { type: "array", items: { $ref: "#" } },
    },
    required: ["name"],
  };
  const lines = linesOfSchema(tree);
  expect(lines[0]).toEqual({
    pointer: "/name",
    name: "name",
    depth: 0,
    type: "string",
    required: true,
    text: 'of the node · default "x"',
  });
  expect(lines[2]).toMatchObject({ pointer: "/children/-/name", depth: 1 });
  expect(lines).toHaveLength(8);
});
