// @vitest-environment node
import { describe, expect, test } from "vitest";
import { check } from "./SchemaFormCheck";
import { firstDraft } from "./SchemaFormDraft";
import { type Field, fieldOf, resolve, type Schema } from "./SchemaFormModel";

const field = (schema: Schema, root: Schema = schema): Field => fieldOf(schema, root);
const problems = (schema: Schema, value: Parameters<typeof check>[1]): string[] =>
  check(schema, value).map(({ pointer, message }) => `${pointer}: ${message}`);

describe("a schema as a field", () => {
  test.each([
    [{ type: "string" }, "text"],
    [{ type: "integer" }, "number"],
    [{ type: "number" }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ type: "array" }, "list"],
    [{ type: "object" }, "object"],
    [{ enum: ["a", "b"] }, "choice"],
    [{ const: 4 }, "const"],
    [{ enum: ["only"] }, "const"],
    [{ type: "null" }, "const"],
    [{ properties: { a: {} } }, "object"],
    [{ items: {} }, "list"],
    [{}, "any"],
    [true, "any"],
    [false, "any"],
    [{ type: "rubbish" }, "any"],
    [{ type: ["string", "integer"] }, "union"],
    [{ type: ["integer", "number"] }, "number"],
  ] as [Schema, string][])("%j is a field of kind %s", (schema, kind) => {
    expect(field(schema).kind).toBe(kind);
  });

  test("a null beside a type, in a type list, in anyOf and in an enum all mean nullable", () => {
    expect(field({ type: ["string", "null"] })).toMatchObject({ kind: "text", nullable: true });
    expect(field({ anyOf: [{ type: "integer" }, { type: "null" }] })).toMatchObject({ kind: "number", nullable: true });
    expect(field({ enum: ["a", "b", null] })).toMatchObject({ kind: "choice", options: ["a", "b"], nullable: true });
    expect(field({ enum: ["a", null] })).toMatchObject({ kind: "choice", options: ["a"], nullable: true });
    expect(field({ oneOf: [{ const: "a" }, { const: "b" }, { type: "null" }] })).toMatchObject({
      kind: "choice",
      options: ["a", "b"],
      nullable: true,
    });
  });

  test("the title of a place wins over the title of the type it refers to", () => {
    const root: Schema = { $defs: { T: { title: "Type", description: "of it", type: "string" } } };
    expect(fieldOf({ $ref: "#/$defs/T" }, root)).toMatchObject({ title: "Type", description: "of it" });
    expect(fieldOf({ $ref: "#/$defs/T", title: "Place" }, root)).toMatchObject({ title: "Place" });
    expect(fieldOf({ anyOf: [{ $ref: "#/$defs/T" }, { type: "null" }], title: "Place" }, root).title).toBe("Place");
  });

  test("branches are named by title, tag, reference or type", () => {
    const found = field({
      oneOf: [
        { title: "Named", type: "object" },
        { type: "object", properties: { kind: { const: "tagged" } } },
        { $ref: "#/$defs/Referred" },
        { type: "string" },
        { enum: [1, 2] },
      ],
      $defs: { Referred: { type: "object" } },
    });
    expect(found.kind === "union" && found.alternatives.map(({ label }) => label)).toEqual([
      "Named",
      "tagged",
      "Referred",
      "string",
      "one of a list",
    ]);
  });

  test("what stands beside anyOf holds for each branch", () => {
    const found = field({
      type: "object",
      properties: { id: { type: "string" } },
      required: ["id"],
      anyOf: [{ properties: { a: { type: "string" } } }, { properties: { b: { type: "string" } } }],
    });
    const branch = found.kind === "union" ? field(found.alternatives[1]?.schema ?? false) : found;
    expect(branch.kind === "object" && branch.properties.map(({ name, required }) => [name, required])).toEqual([
      ["id", true],
      ["b", false],
    ]);
  });

  test("a required name without a description is a field too", () => {
    const found = field({ type: "object", required: ["x"], additionalProperties: { type: "integer" } });
    expect(found.kind === "object" && found.properties).toEqual([
      { name: "x", schema: { type: "integer" }, required: true },
    ]);
  });

  test("dates and long texts have a format of their own", () => {
    expect(field({ type: "string", format: "date" })).toMatchObject({ format: "date" });
    expect(field({ type: "string", format: "date-time" })).toMatchObject({ format: "date-time" });
    expect(field({ type: "string", maxLength: 5000 })).toMatchObject({ format: "long" });
    expect(field({ type: "string", format: "email" })).toMatchObject({ format: "plain" });
  });
});

describe("references", () => {
  test("are followed through pointers with escapes, and joined with allOf", () => {
    const root: Schema = { $defs: { "a/b": { type: "string" } } };
    expect(resolve({ $ref: "#/$defs/a~1b" }, root)).toEqual({ type: "string" });
    expect(resolve({ allOf: [{ $ref: "#/$defs/a~1b" }], default: "x" }, root)).toEqual({
      type: "string",
      default: "x",
    });
  });

  test("allOf joins properties and required", () => {
    const found = resolve(
      {
        allOf: [
          { properties: { a: {} }, required: ["a"] },
          { properties: { b: {} }, required: ["b"] },
        ],
      },
      true,
    );
    expect(found).toEqual({ properties: { a: {}, b: {} }, required: expect.arrayContaining(["a", "b"]) });
  });

  test("that lead nowhere, to another document or in a circle allow anything", () => {
    expect(resolve({ $ref: "#/$defs/gone" }, {})).toEqual({});
    expect(resolve({ $ref: "https://example.org/schema" }, {})).toEqual({});
    const circle: Schema = { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } };
    expect(resolve({ $ref: "#/$defs/a" }, circle)).toEqual({});
    expect(resolve({ $ref: "#/$defs/toString" }, { $defs: {} })).toEqual({});
  });

  test("a schema that contains itself neither hangs the field, the first draft nor the check", () => {
    const tree: Schema = {
      type: "object",
      properties: { left: { $ref: "#" }, right: { $ref: "#" } },
      required: ["left"],
    };
    expect(field(tree).kind).toBe("object");
    expect(firstDraft(tree, tree)).toHaveProperty("left.left");
    expect(problems(tree, { left: { left: {} } })).toEqual(["/left/left/left: Required"]);
    for (const loop of [{ anyOf: [{ $ref: "#" }] }, { anyOf: [{ $ref: "#" }, { $ref: "#" }] }] as Schema[]) {
      field(loop);
      firstDraft(loop, loop);
    }
    expect(problems({ anyOf: [{ $ref: "#" }] }, 1)).toEqual([]);
  });
});
