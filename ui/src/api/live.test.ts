import { expect, test } from "vitest";
import { append, applyChanges, emptyLog } from "./live";
import { parser } from "./sse";
import type { Event, Run } from "./types";

const event = (seq: number): Event => ({ seq, at: seq, type: "x", data: {} });
const run = (id: string, created_at: number, rest: Partial<Run> = {}): Run => ({
  id,
  namespace: "default",
  dialect: "code",
  definition: "order",
  status: "running",
  created_at,
  ...rest,
});

test("an event that was seen before a reconnect is not added again", () => {
  const log = append(emptyLog(0), [event(1), event(2)]);
  expect(append(log, [event(1), event(2), event(3)]).events.map((one) => one.seq)).toEqual([1, 2, 3]);
});

test("a batch of only old events changes nothing, not even the object", () => {
  const log = append(emptyLog(0), [event(1), event(2)]);
  expect(append(log, [event(2)])).toBe(log);
});

test("events up to the starting point are left out", () => {
  expect(append(emptyLog(5), [event(4), event(5), event(6)])).toEqual({ last: 6, events: [event(6)] });
});

test("a changed run takes its place, a new one comes first, a gone one leaves", () => {
  const before = [run("b", 2), run("a", 1)];
  const after = applyChanges(before, { runs: [run("a", 1, { status: "failed" }), run("c", 3)], gone: ["b"] });
  expect(after.map((one) => [one.id, one.status])).toEqual([
    ["c", "running"],
    ["a", "failed"],
  ]);
});

test("runs of the same moment have one order, whatever the order they came in", () => {
  const one = applyChanges([], { runs: [run("a", 1), run("b", 1)] });
  const other = applyChanges([], { runs: [run("b", 1), run("a", 1)] });
  expect(one).toEqual(other);
});

test("messages are whole even when the stream is cut anywhere", () => {
  const text = ': alive\n\nevent: snapshot\ndata: {"runs":[]}\n\nid: 7\ndata: {"seq":7}\n\n';
  for (let cut = 0; cut <= text.length; cut++) {
    const parse = parser();
    expect([...parse(text.slice(0, cut)), ...parse(text.slice(cut))]).toEqual([
      { event: "snapshot", data: '{"runs":[]}', id: undefined },
      { event: "message", data: '{"seq":7}', id: "7" },
    ]);
  }
});

test("lines may end in CR LF, and data in several lines is one text", () => {
  expect(parser()("data: a\r\ndata: b\r\n\r\n")).toEqual([{ event: "message", data: "a\nb", id: undefined }]);
});
