import { expect, test } from "vitest";
import { bodyOf, type Draft, draftOf, EMPTY, saveCopy, timingOf, wrongIn } from "./draft";

const draft: Draft = { ...EMPTY, name: "nightly", definition: "order@prod", tz: "Europe/Berlin", input: '{"n": 1}' };

test("a draft is sent as settings", () => {
  expect(bodyOf({ ...draft, labels: "team:tea", deadline: "2 h" })).toEqual({
    definition: "order@prod",
    dialect: undefined,
    input: { n: 1 },
    cron: "0 9 * * MON-FRI",
    tz: "Europe/Berlin",
    overlap: "skip",
    catchup_ms: 60_000,
    labels: { team: "tea" },
    deadline_ms: 7_200_000,
  });
  expect(timingOf({ ...draft, by: "every", every: "15 min" })).toEqual({ every_ms: 900_000, tz: "Europe/Berlin" });
  expect(bodyOf({ ...draft, catchup: "0" }).catchup_ms).toBe(0);
});

test("a schedule that is edited comes back as it was", () => {
  const times = { created_at: 1, updated_at: 1, namespace: "default" };
  const saved = { ...bodyOf({ ...draft, labels: "team:tea" }), name: "nightly", ...times };
  expect(bodyOf(draftOf(saved))).toEqual(bodyOf({ ...draft, labels: "team:tea" }));
  const rare = {
    ...saved,
    cron: undefined,
    every_ms: 5000,
    catchup_ms: 0,
    definition: { nodes: {} },
    dialect: "graph",
  };
  expect(bodyOf(draftOf(rare))).toMatchObject({ every_ms: 5000, catchup_ms: 0, definition: { nodes: {} } });
});

test("what is wrong is told at its field", () => {
  const told = (changes: Partial<Draft>) =>
    Object.entries(wrongIn({ ...draft, ...changes })).filter(([, problem]) => problem !== undefined);
  expect(told({})).toEqual([]);
  expect(told({ name: "a/b" })[0]?.[0]).toBe("name");
  expect(told({ definition: "" })).toEqual([["definition", "Required"]]);
  expect(told({ input: "{" })[0]?.[0]).toBe("input");
  expect(told({ cron: " " })).toEqual([["cron", "Required"]]);
  expect(told({ by: "every", every: "soon" })[0]?.[0]).toBe("every");
  expect(told({ catchup: "late" })[0]?.[0]).toBe("catchup");
});

test("saving is the same everywhere", () => {
  const copied = saveCopy(draft, "shop");
  expect(copied.path).toBe("/schedules/nightly?namespace=shop");
  expect(copied.cli).toBe(
    "plait schedules set nightly order@prod --cron '0 9 * * MON-FRI' --tz Europe/Berlin " +
      `--input '{"n":1}' --overlap skip --catchup 60s -n shop`,
  );
  expect(copied.python).toContain('create("nightly", "order@prod", {"n": 1}, cron="0 9 * * MON-FRI"');
});

test("runs of a schedule wait on its queue", () => {
  const queued = { ...draft, queue: " reports ", priority: "-1", partition: "tea" };
  expect(bodyOf(queued)).toMatchObject({ queue: "reports", priority: -1, partition: "tea" });
  expect(saveCopy(queued, undefined).cli).toContain("--queue reports --priority -1 --partition tea");
  expect(saveCopy(queued, undefined).python).toContain('queue="reports", priority=-1, partition="tea"');
  expect(wrongIn({ ...draft, priority: "high" }).priority).toBe("A whole number; lower goes first");
});
