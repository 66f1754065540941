import { describe, expect, test } from "vitest";
import { bodyOf, idProblem, parseLabels, type Request, secondsOf, startCopy } from "./request";

const request: Request = {
  definition: "order@stable",
  dialect: "code",
  input: { n: 1 },
  id: " o-1 ",
  labels: "",
  deadline: "",
};

describe("labels", () => {
  test("are key:value pairs, apart by spaces or commas", () => {
    expect(parseLabels("team:checkout, tier=gold  note:a:b").labels).toEqual({
      team: "checkout",
      tier: "gold",
      note: "a:b",
    });
  });

  test("that have no key are refused", () => {
    expect(parseLabels("team").problem).toBe("team is not in the form key:value.");
    expect(parseLabels(":x").problem).toBe(":x is not in the form key:value.");
  });
});

describe("a duration", () => {
  test.each([
    ["90", 90],
    ["1.5 s", 1.5],
    ["15 min", 900],
    ["15m", 900],
    ["2 h", 7200],
    ["1d", 86_400],
  ])("%j is %d seconds", (text, seconds) => {
    expect(secondsOf(text)).toEqual({ seconds });
  });

  test.each(["soon", "-1", "0", "5 weeks"])("%j is refused", (text) => {
    expect(secondsOf(text).problem).toMatch(/duration/);
  });

  test("may be left out", () => {
    expect(secondsOf(" ")).toEqual({});
  });
});

test("an id with a slash or a line break is refused", () => {
  expect(["a/b", "a\nb"].map(idProblem)).toEqual([expect.any(String), expect.any(String)]);
  expect(["", "o-1", "Bestellung 7:ä"].map(idProblem)).toEqual([undefined, undefined, undefined]);
});

test("what is not filled in is not sent", () => {
  expect(JSON.parse(JSON.stringify(bodyOf(request)))).toEqual({
    dialect: "code",
    definition: "order@stable",
    input: { n: 1 },
    id: "o-1",
  });
});

test("all that is filled in is sent, and is the same in Python", () => {
  const full: Request = { ...request, dialect: "graph", labels: "team:x", deadline: "2 min" };
  expect(bodyOf(full)).toEqual({
    dialect: "graph",
    definition: "order@stable",
    input: { n: 1 },
    id: "o-1",
    labels: { team: "x" },
    deadline_ms: 120_000,
  });
  const copy = startCopy(full, "shop");
  expect(copy.path).toBe("/runs?namespace=shop");
  expect(copy.python).toBe(
    'handle = await engine.start("order@stable", {"n": 1}, id="o-1", labels={"team": "x"}, deadline=120, namespace="shop")',
  );
});
