import { describe, expect, test } from "vitest";
import type { Json } from "../../../api/types";
import { matching, refsFor, tokenAt, written } from "./completion";
import { readWhen, takesValue, writeWhen } from "./condition";
import { addStep, downstreamOf, headsIn, moveStep, needsOf, removeStep, renameStep, setField, stepsOf } from "./source";

const workflow: Json = {
  input_schema: { type: "object", properties: { email: { type: "string" }, "2fa": { type: "string" } } },
  steps: [
    { name: "user", action: { toolName: "GET_USER" }, input: { email: "@input.email" } },
    {
      name: "act",
      action: { code: "// @user" },
      input: { id: "@user.id", mail: "ann@user.com @@user" },
      dependsOn: ["user"],
    },
    { name: "result", action: { return: true }, input: { text: "v@{act.id}" }, when: { ref: "@act.ok", eq: true } },
  ],
};

const step = (name: string) => {
  const found = stepsOf(workflow).find((one) => one.name === name);
  if (!found) throw new Error(`no step ${name}`);
  return found;
};

describe("references", () => {
  test("are found by the server's rules", () => {
    expect(headsIn('@a.b and @{c["x"]}, not @@d nor ann@e.com; v@{f}')).toEqual(["a", "c", "f"]);
  });

  test("make a step wait for others", () => {
    expect([...needsOf(step("result"))]).toEqual(["act"]);
    expect([...downstreamOf(workflow, "user")]).toEqual(["user", "act", "result"]);
  });

  test("are completed from the input's schema, from results, and never from what is downstream", () => {
    const samples = new Map<string, Json>([["user", { id: 7, tags: [{ name: "x" }] }]]);
    expect(refsFor(workflow, step("act"), samples)).toEqual([
      "input",
      "input.email",
      'input["2fa"]',
      "user",
      "user.id",
      "user.tags",
      "user.tags[0]",
      "user.tags[0].name",
      "ctx.execution_id",
    ]);
    expect(written('input["2fa"]')).toBe('@{input["2fa"]}');
  });

  test("are completed where one is being typed", () => {
    expect(tokenAt('{"id": "@us', 11)).toEqual({ start: 8, end: 11, text: "us" });
    expect(tokenAt("ann@us", 6)).toBeUndefined();
    expect(tokenAt("@@us", 4)).toBeUndefined();
    expect(matching(["input", "user", "user.id", "focus"], "us")).toEqual(["user", "user.id", "focus"]);
  });
});

describe("changes", () => {
  test("rename a step with all that refers to it", () => {
    const steps = stepsOf(renameStep(workflow, "user", "customer"));
    expect(steps[0]?.name).toBe("customer");
    expect(steps[1]?.fields).toEqual({
      name: "act",
      action: { code: "// @user" },
      input: { id: "@customer.id", mail: "ann@user.com @@user" },
      dependsOn: ["customer"],
    });
    expect(stepsOf(renameStep(workflow, "act", "do"))[2]?.fields).toMatchObject({
      input: { text: "v@{do.id}" },
      when: { ref: "@do.ok", eq: true },
    });
  });

  test("add, move, change and remove steps", () => {
    const { document, name } = addStep(workflow, "toolName");
    expect(name).toBe("step_1");
    expect(stepsOf(moveStep(document, 3, -1)).map((one) => one.name)).toEqual(["user", "act", "step_1", "result"]);
    expect(stepsOf(removeStep(document, 0)).map((one) => one.name)).toEqual(["act", "result", "step_1"]);
    expect(stepsOf(setField(workflow, 2, "when", undefined))[2]?.fields.when).toBeUndefined();
    expect(addStep(addStep({}, "return").document, "return").name).toBe("result_2");
  });
});

describe("conditions", () => {
  test.each<Json>([
    { ref: "@a.b", eq: "paid" },
    { ref: "@a.b", eq: "7" },
    { ref: "@a.b", neq: null },
    { ref: "@a.b", gt: 7 },
    { ref: "@a.b", in: ["a", 1] },
    { ref: "@a.b", exists: true },
    { ref: "@a.b", exists: false },
    { ref: "@a.b" },
  ])("%j is the same after the form", (condition) => {
    expect(writeWhen(readWhen(condition))).toEqual(condition);
  });

  test("values are read as people type them", () => {
    expect(writeWhen({ ref: "@a", operator: "eq", value: "7" })).toEqual({ ref: "@a", eq: 7 });
    expect(writeWhen({ ref: "@a", operator: "in", value: "new, 3" })).toEqual({ ref: "@a", in: ["new", 3] });
    expect(takesValue("exists")).toBe(false);
  });
});
