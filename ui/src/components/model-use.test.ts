import { expect, test } from "vitest";
import { costWords, tokenWords, totalWords } from "./model-use";

test("a price that is not known is never shown as nothing", () => {
  expect(costWords(undefined)).toBe("cost unknown");
  expect(costWords(0)).toBe("$0.00");
  expect(totalWords({ tokens: 12 })).toBe("12 tokens · cost unknown");
});

test("small costs keep their first digits, larger ones their cents", () => {
  expect(costWords(0.000423)).toBe("$0.00042");
  expect(costWords(0.01)).toBe("$0.01");
  expect(costWords(1234.567)).toBe("$1,234.57");
});

test("cached tokens are told as a part of those that went in", () => {
  expect(tokenWords({ input: 1200, output: 56, cached: 1000 })).toBe("1,200 tokens in (1,000 cached), 56 out");
  expect(tokenWords({ input: 3 })).toBe("3 tokens in, 0 out");
});

test("a run whose agents have not finished has no total yet", () => {
  expect(totalWords({ attempts: 1, cost_usd: 0 })).toBeUndefined();
});
