import { describe, expect, test } from "vitest";
import {
  accepted,
  chosen,
  clientConfig,
  type DraftStep,
  isIncluded,
  NO_CHOICES,
  nameFrom,
  renamed,
  stillThere,
  sureness,
} from "./draft";

const step = (name: string, included: boolean): DraftStep => ({
  name,
  status: "completed",
  included,
  reason: included ? "success" : "exploratory",
  input: {},
});

describe("choices", () => {
  test("a step that is out can be taken in, and out again", () => {
    const taken = chosen(NO_CHOICES, step("a", false), true);
    expect(taken.include).toEqual(["a"]);
    expect(chosen(taken, step("a", true), false)).toEqual({ ...NO_CHOICES, exclude: ["a"] });
  });

  test("a step that is in can be left out, and taken in again", () => {
    const out = chosen(NO_CHOICES, step("a", true), false);
    expect(out.exclude).toEqual(["a"]);
    expect(isIncluded(out, step("a", true))).toBe(false);
    expect(chosen(out, step("a", false), true)).toEqual({ ...NO_CHOICES, include: ["a"] });
  });

  test("suggestions are accepted and taken back, names changed and changed back", () => {
    const yes = accepted(NO_CHOICES, "s1", true);
    expect(yes.accept).toEqual(["s1"]);
    expect(accepted(yes, "s1", false).accept).toEqual([]);
    expect(renamed(NO_CHOICES, "a_1", "user").rename).toEqual({ a_1: "user" });
    expect(renamed(renamed(NO_CHOICES, "a_1", "user"), "a_1", "a_1").rename).toEqual({});
  });

  test("what is no longer recorded is forgotten", () => {
    const choices = { ...NO_CHOICES, include: ["a", "gone"], rename: { gone: "x" } };
    const draft = { steps: [step("a", true)], suggestions: [], input_schema: {}, problems: [], definition: {} };
    expect(stillThere(choices, draft)).toEqual({ ...NO_CHOICES, include: ["a"] });
  });
});

test("confidence has three grades", () => {
  expect([99, 80, 79, 50, 20].map(sureness)).toEqual(["high", "high", "medium", "medium", "low"]);
});

test("a template is named after its title", () => {
  expect(nameFrom("Order a cup, twice!")).toBe("order-a-cup-twice");
  expect(nameFrom("…")).toBe("recorded");
});

test("a client's configuration names the recording", () => {
  expect(JSON.parse(clientConfig("http://x", "a b")).mcpServers.recording.url).toBe("http://x/mcp/record/a%20b");
});
