import { expect, test } from "vitest";
import { callStatus, finishWords, replyOf } from "./reply";

test("a final answer is shown as JSON, and what only begins like it as text", () => {
  expect(replyOf(' {"output": 1} ')).toEqual({ value: { output: 1 } });
  expect(replyOf('{"output": ')).toEqual({ text: '{"output": ' });
  expect(replyOf("All is well")).toEqual({ text: "All is well" });
});

test("a reply that only calls tools has nothing to read", () => {
  expect(replyOf(" \n")).toBeUndefined();
});

test("a call that was denied does not look like one that failed", () => {
  expect(callStatus({ status: "denied" })).toEqual({ status: "blocked", word: "Denied" });
  expect(callStatus({ status: "failed" })).toEqual({ status: "failed", word: "Failed" });
});

test("only replies that did not end by themselves say why", () => {
  expect(finishWords("stop")).toBeUndefined();
  expect(finishWords("tool_calls")).toBeUndefined();
  expect(finishWords("length")).toContain("cut off");
});
