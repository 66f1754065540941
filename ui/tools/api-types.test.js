import { expect, test } from "vitest";
import { moduleOf, typeOf } from "./api-types.js";

test.each([
  [{ type: "integer" }, "number"],
  [{ enum: ["a", "b"] }, '"a" | "b"'],
  [{ $ref: "#/components/schemas/Run" }, "Run"],
  [{}, "Json"],
  [{ type: "array" }, "Json[]"],
  [{ type: "array", items: { enum: ["a", "b"] } }, '("a" | "b")[]'],
  [{ type: "object" }, "{ [key: string]: Json }"],
  [{ type: "object", additionalProperties: { type: "string" } }, "{ [key: string]: string }"],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
])("%j becomes %s", (schema, type) => {
  expect(typeOf(schema)).toBe(type);
});

test("a property that may be left out is optional and never null", () => {
  const schema = {
    type: "object",
    properties: { id: { type: "string" }, "ends-at": { anyOf: [{ type: "integer" }, { type: "null" }] } },
    required: ["id"],
  };
  expect(typeOf(schema)).toBe('{\n  id: string;\n  "ends-at"?: number;\n}');
});

test("every schema is a type of the module, by name", () => {
  const schemas = { Run: { type: "string", description: "One run." }, Bar: { type: "boolean" } };
  const text = moduleOf({ components: { schemas } });
  expect(text).toContain("export type Bar = boolean;\n\n/** One run. */\nexport type Run = string;\n");
});

test("a schema that has no type in TypeScript is refused", () => {
  expect(() => typeOf({ type: "binary" })).toThrow("no TypeScript type");
});
