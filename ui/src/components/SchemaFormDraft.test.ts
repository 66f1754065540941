// @vitest-environment node
import { describe, expect, test } from "vitest";
import { check } from "./SchemaFormCheck";
import {
  addedDraft,
  draftOf,
  firstDraft,
  jsonOf,
  parseRaw,
  rawOf,
  renamed,
  textOf,
  withProperty,
} from "./SchemaFormDraft";
import { type Field, fieldOf, type Schema, Unfinished } from "./SchemaFormModel";
import { ORDER } from "./SchemaFormOrder.example";

const field = (schema: Schema, root: Schema = schema): Field => fieldOf(schema, root);

describe("the first draft", () => {
  test("has defaults, tags, required parts and the least number of items, and leaves the rest out", () => {
    expect(firstDraft(ORDER, ORDER)).toEqual({ currency: "EUR", payment: { type: "card" }, lines: [{}] });
  });

  test("a required yes-or-no starts with no, an optional one is left open", () => {
    const schema: Schema = {
      type: "object",
      properties: { a: { type: "boolean" }, b: { type: "boolean" } },
      required: ["a"],
    };
    expect(firstDraft(schema, schema)).toEqual({ a: false });
  });

  test("a required nullable starts with null, an optional default of null stays out", () => {
    const schema: Schema = {
      type: "object",
      properties: { a: { type: ["string", "null"] }, b: { type: ["string", "null"], default: null } },
      required: ["a"],
    };
    expect(firstDraft(schema, schema)).toEqual({ a: null });
  });

  test("a part that is added is there, also when null would do", () => {
    const address: Schema = { anyOf: [{ type: "null" }, { $ref: "#/$defs/Address" }] };
    expect(addedDraft(address, ORDER)).toEqual({});
    expect(addedDraft({ type: ["array", "null"], items: { type: "boolean" } }, true)).toEqual([false]);
  });
});

describe("text and value", () => {
  const integer = field({ type: "integer" });
  test.each([
    ["12", 12],
    [" -3 ", -3],
    ["+7", 7],
    ["1e3", 1000],
    [".5", 0.5],
    ["", undefined],
  ])("number %j is %j", (text, value) => {
    expect(draftOf(integer, text, true)).toEqual(value);
  });

  test.each(["abc", "1,5", "1 000", "0x10", "--1", "1e999", "9007199254740993", "NaN", "Infinity"])(
    "%j is kept as typed, with a reason",
    (text) => {
      const draft = draftOf(integer, text, true);
      expect(draft).toBeInstanceOf(Unfinished);
      expect(textOf(integer, draft)).toBe(text);
      expect(check({ type: "integer" }, draft)).toHaveLength(1);
    },
  );

  test("an emptied field is absent, null where that is needed, or empty where empty is the default", () => {
    expect(draftOf(field({ type: "string" }), "", true)).toBeUndefined();
    expect(draftOf(field({ type: ["string", "null"] }), "", true)).toBeNull();
    expect(draftOf(field({ type: ["string", "null"] }), "", false)).toBeUndefined();
    expect(draftOf(field({ type: "string", default: "" }), "", true)).toBe("");
  });

  test("a value of another kind has no text", () => {
    expect(textOf(field({ type: "string" }), 5)).toBeUndefined();
    expect(textOf(integer, { a: 1 })).toBeUndefined();
  });

  test("a draft becomes JSON without what is not filled in", () => {
    expect(jsonOf({ a: undefined, b: [undefined, 1], c: null })).toEqual({ b: [null, 1], c: null });
    expect(jsonOf(undefined)).toBeUndefined();
  });

  test("properties keep their order when they change, are renamed or removed; __proto__ is only a name", () => {
    expect(Object.keys(withProperty({ a: 1, b: 2 }, "a", 3))).toEqual(["a", "b"]);
    expect(withProperty({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
    expect(Object.keys(withProperty({ x: 0, b: 2 }, "a", 1, ["a", "b"]))).toEqual(["a", "b", "x"]);
    expect(Object.keys(renamed({ a: 1, b: 2 }, "a", "z"))).toEqual(["z", "b"]);
    const odd = withProperty({}, "__proto__", { polluted: true });
    expect(Object.keys(odd)).toEqual(["__proto__"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(JSON.stringify(jsonOf(odd))).toBe('{"__proto__":{"polluted":true}}');
  });
});

describe("raw JSON", () => {
  test("keeps the value there and back", () => {
    const draft = { a: 1, b: ["x", null], c: { d: true } };
    expect(parseRaw(rawOf(draft)).value).toEqual(draft);
    expect(rawOf(undefined)).toBe("");
    expect(parseRaw("  ")).toEqual({ value: undefined });
  });

  test("says what is wrong", () => {
    expect(parseRaw('{"a": }').problem).toMatch(/^Invalid JSON: /);
    expect(parseRaw('{\n  "a": x\n}').problem).toBe("Invalid JSON: Unexpected token 'x'");
    expect(parseRaw('{"a": 1,\n}').problem).toMatch(/\(line 2, column 1\)$/);
  });

  test("refuses a whole number that a browser would change, but not its digits in a text", () => {
    expect(parseRaw('{"id": 9007199254740993}').problem).toMatch(/9007199254740993 is too large/);
    expect(parseRaw('{"id": "9007199254740993"}').problem).toBeUndefined();
    expect(parseRaw('{"id": 9007199254740991}').problem).toBeUndefined();
  });
});
