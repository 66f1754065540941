import { expect, test } from "vitest";
import type { Node, Run } from "../../../api/types";
import { curl, py, sh } from "../../../components/copy";
import { parseJson } from "../../../components/parse-json";
import { completionEvent } from "./completion-event";
import {
  cancelRequest,
  compensateRequest,
  forkRequest,
  messageRequest,
  retryRequest,
  turnForkRequest,
} from "./requests";

const run: Run = {
  id: "o-1",
  namespace: "default",
  dialect: "code",
  definition: "order",
  status: "running",
  created_at: 0,
};

test("a cancel with a reason is the same for all three tools", () => {
  const action = cancelRequest(run, "it's late", true);
  expect(JSON.parse(JSON.stringify(action.body))).toEqual({ reason: "it's late", compensate: true });
  expect(action.cli).toBe(`plait cancel o-1 --reason 'it'\\''s late' --compensate`);
  expect(action.python).toContain(`await run.cancel("it's late", compensate=True)`);
  expect(curl(action, "http://localhost:8080")).toBe(
    [
      "curl -X POST http://localhost:8080/api/v1/runs/o-1/cancel \\",
      `  -H "Authorization: Bearer $PLAIT_KEY" \\`,
      "  -H 'Content-Type: application/json' \\",
      `  -d '{"reason":"it'\\''s late","compensate":true}'`,
    ].join("\n"),
  );
});

test("what is not given is not said", () => {
  const action = cancelRequest(run, "", false);
  expect(action.cli).toBe("plait cancel o-1");
  expect(action.python).toContain("await run.cancel()");
  expect(JSON.stringify(action.body)).toBe("{}");
});

test("another namespace is named everywhere", () => {
  const action = retryRequest({ ...run, namespace: "shop" }, "items/~0/ship");
  expect(action.path).toBe("/runs/o-1/retry?namespace=shop");
  expect(action.cli).toBe("plait retry o-1 --from 'items/~0/ship' --namespace shop");
  expect(action.python).toContain('engine.get("o-1", namespace="shop")');
});

test("a fork of a run of goals gives attributes other values", () => {
  const action = forkRequest(run, { at: "charge", edits: {}, attributes: { total: 12 } });
  expect(action.body?.edits).toEqual({ attributes: { total: 12 } });
  expect(action.cli).toBe("plait fork o-1 --at charge --set total=12");
  expect(action.python).toContain('fork = await run.fork(at="charge", edits={"attributes": {"total": 12}})');
});

test("a fork names its place, its edits and its id", () => {
  const action = forkRequest(run, { at: 12, edits: { price: { cents: 5, ok: true } }, id: "o-2" });
  expect(action.cli).toBe(`plait fork o-1 --at 12 --set 'price={"cents":5,"ok":true}' --id o-2`);
  expect(action.python).toContain('fork = await run.fork(at=12, edits={"price": {"cents": 5, "ok": True}}, id="o-2")');
  expect(action.body).toEqual({ at: 12, edits: { price: { cents: 5, ok: true } }, id: "o-2" });
});

test("a turn is asked anew right before its reply, with what is given and nothing else", () => {
  const action = turnForkRequest(run, "qualify", 12, { model: "slow", prompt: " " });
  expect(action.body).toEqual({ at: 11, edits: { agents: { qualify: { model: "slow" } } }, id: undefined });
  expect(action.cli).toBe(`plait fork o-1 --at 11 --set 'agents={"qualify":{"model":"slow"}}'`);
  expect(turnForkRequest(run, "qualify", 12, {}).body?.edits).toBeUndefined();
});

test("a message of null needs no body on the command line", () => {
  expect(messageRequest(run, "yes", null).cli).toBe("plait message o-1 yes");
  expect(messageRequest(run, "yes", { by: "me" }).cli).toBe(`plait message o-1 yes '{"by":"me"}'`);
});

test("undoing an ended run has a command", () => {
  expect(compensateRequest(run).cli).toBe("plait compensate o-1");
});

test("an id with odd characters is safe in a path and in a shell", () => {
  const action = retryRequest({ ...run, id: "a b?$(rm)" });
  expect(action.path).toBe("/runs/a%20b%3F%24(rm)/retry");
  expect(action.cli).toBe("plait retry 'a b?$(rm)'");
});

test("words are quoted for the shell only where needed, values are Python's", () => {
  expect(sh("plain-1.2/x:y")).toBe("plain-1.2/x:y");
  expect(sh("")).toBe("''");
  expect(py([null, true, 1.5, 'a"b\n', { k: [] }])).toBe('[None, True, 1.5, "a\\"b\\n", {"k": []}]');
});

test("typed JSON is read, and a bare word gets a hint", () => {
  expect(parseJson('{"a": 1}')).toEqual({ ok: true, value: { a: 1 } });
  expect(parseJson("hello")).toMatchObject({ ok: false, error: expect.stringContaining('"hello"') });
});

test("the closing event is found, whichever it is", async () => {
  for (let closed = 1; closed <= 9; closed++) {
    const look = async (at: number): Promise<Node[]> => [
      { id: "x", kind: "step", label: "x", status: at >= closed ? "completed" : "running" },
    ];
    expect(await completionEvent("x", 9, look)).toBe(closed);
  }
});
