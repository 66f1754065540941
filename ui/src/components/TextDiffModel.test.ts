// @vitest-environment node
import { describe, expect, test } from "vitest";
import { align, linesOf, rowsOf, type Step, stretches, wordsOf } from "./TextDiffModel";

/** What the steps make of the old and of the new sequence: they must give back exactly those. */
function replay(steps: Step[], a: string[], b: string[]): { a: (string | undefined)[]; b: (string | undefined)[] } {
  const left = steps.flatMap((step) => (step.kind === "added" ? [] : [a[step.a]]));
  const right = steps.flatMap((step) => (step.kind === "removed" ? [] : [b[step.b]]));
  return { a: left, b: right };
}

function kept(steps: Step[]): number {
  return steps.filter((step) => step.kind === "same").length;
}

describe("align", () => {
  test("keeps everything of equal sequences", () => {
    const steps = align(["a", "b", "c"], ["a", "b", "c"]);
    expect(steps.every((step) => step.kind === "same")).toBe(true);
    expect(kept(steps)).toBe(3);
  });

  test("an empty side is all added or all removed", () => {
    expect(align([], ["a", "b"]).map((step) => step.kind)).toEqual(["added", "added"]);
    expect(align(["a", "b"], []).map((step) => step.kind)).toEqual(["removed", "removed"]);
    expect(align([], [])).toEqual([]);
  });

  test("one line put in front leaves the others alone", () => {
    expect(align(["b", "c"], ["a", "b", "c"]).map((step) => step.kind)).toEqual(["added", "same", "same"]);
  });

  test("finds the longest common part when no line is unique", () => {
    const [a, b] = [[..."abcabba"], [..."cbabac"]];
    const steps = align(a, b);
    expect(replay(steps, a, b)).toEqual({ a, b });
    expect(kept(steps)).toBe(4);
  });

  test("anchors on unique lines rather than on braces", () => {
    const a = ["def one():", "}", "}"];
    const b = ["def zero():", "}", "}", "def one():", "}", "}"];
    const same = align(a, b).flatMap((step) => (step.kind === "same" ? [b[step.b]] : []));
    expect(same).toContain("def one():");
  });

  test("gives back both sequences for many random pairs", () => {
    let seed = 7;
    const next = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % below;
    };
    for (let round = 0; round < 300; round++) {
      const make = (): string[] => Array.from({ length: next(30) }, () => String(next(6)));
      const [a, b] = [make(), make()];
      const steps = align(a, b);
      expect(replay(steps, a, b)).toEqual({ a, b });
      for (const step of steps) if (step.kind === "same") expect(a[step.a]).toBe(b[step.b]);
    }
  });

  test("two long texts with nothing in common end quickly, as replaced", () => {
    const a = Array.from({ length: 20_000 }, (_, index) => `a${index % 50}`);
    const b = Array.from({ length: 20_000 }, (_, index) => `b${index % 50}`);
    const started = performance.now();
    const steps = align(a, b);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(kept(steps)).toBe(0);
    expect(steps).toHaveLength(40_000);
  });
});

describe("rows", () => {
  test("a text's last line break makes no extra line, and CRLF counts as a line break", () => {
    expect(linesOf("a\r\nb\n")).toEqual(["a", "b"]);
    expect(linesOf("")).toEqual([]);
    expect(linesOf("\n")).toEqual([""]);
  });

  test("a replaced line stands beside its replacement, with both numbers", () => {
    expect(rowsOf("a\nb\nc", "a\nB\nc")).toEqual([
      { kind: "same", a: { number: 1, text: "a" }, b: { number: 1, text: "a" } },
      { kind: "changed", a: { number: 2, text: "b" }, b: { number: 2, text: "B" } },
      { kind: "same", a: { number: 3, text: "c" }, b: { number: 3, text: "c" } },
    ]);
  });

  test("when the new stretch is longer its rest is added", () => {
    expect(rowsOf("a\nx\nz", "a\ny\nyy\nz").map((row) => row.kind)).toEqual(["same", "changed", "added", "same"]);
  });
});

describe("stretches", () => {
  const text = (changed: number): string =>
    Array.from({ length: 40 }, (_, index) => (index === changed ? "changed" : `line ${index}`)).join("\n");

  test("folds what is far from a change and keeps three lines around it", () => {
    const found = stretches(rowsOf(text(-1), text(20)));
    expect(found.map(({ folded, rows }) => [folded, rows.length])).toEqual([
      [true, 17],
      [false, 7],
      [true, 16],
    ]);
  });

  test("equal texts are one folded stretch", () => {
    expect(stretches(rowsOf(text(1), text(1))).map((stretch) => stretch.folded)).toEqual([true]);
  });

  test("does not fold one or two lines", () => {
    const rows = rowsOf("a\nb\nc\nd\ne", "a\nb\nc\nd\nE");
    expect(stretches(rows).every((stretch) => !stretch.folded)).toBe(true);
  });
});

describe("words", () => {
  test("marks only the words that differ", () => {
    expect(wordsOf("charge(card, 10)", "charge(card, 20)")).toEqual({
      a: [
        { text: "charge(card, ", changed: false },
        { text: "10", changed: true },
        { text: ")", changed: false },
      ],
      b: [
        { text: "charge(card, ", changed: false },
        { text: "20", changed: true },
        { text: ")", changed: false },
      ],
    });
  });

  test("lines that have little in common, or are very long, are not marked inside", () => {
    expect(wordsOf("if total > 1000:", "paid = await charge(card)").a).toEqual([
      { text: "if total > 1000:", changed: false },
    ]);
    expect(wordsOf("x".repeat(3000), "y").a).toEqual([{ text: "x".repeat(3000), changed: false }]);
  });
});
