import { expect, test } from "vitest";
import { actionCopy, inZone, startsWhat, timing } from "./schedule";

test("a schedule is told in a line", () => {
  expect(timing({ cron: "30 9 * * *", tz: "Europe/Berlin" })).toBe("30 9 * * * in Europe/Berlin");
  expect(timing({ cron: "@daily" })).toBe("@daily in UTC");
  expect(timing({ every_ms: 900_000 })).toBe("every 15 min");
  expect(startsWhat({ definition: "order@prod" })).toBe("order@prod");
  expect(startsWhat({ definition: { nodes: {} }, dialect: "graph" })).toBe('graph {"nodes":{}}');
});

test("times are shown in the zone of the schedule, in summer and in winter", () => {
  expect(inZone(Date.UTC(2026, 0, 7, 8, 30), "Europe/Berlin")).toMatch(/^Wed 2026-01-07 09:30:00 (CET|GMT\+1)$/);
  expect(inZone(Date.UTC(2026, 6, 8, 7, 30), "Europe/Berlin")).toMatch(/^Wed 2026-07-08 09:30:00 (CEST|GMT\+2)$/);
});

test("an action is the same everywhere", () => {
  expect(actionCopy({ name: "nightly", namespace: "default" }, "pause")).toEqual({
    method: "POST",
    path: "/schedules/nightly/pause",
    body: {},
    cli: "plait schedules pause nightly",
    python: 'await engine.schedules.pause("nightly")',
  });
  expect(actionCopy({ name: "nightly", namespace: "shop" }, "delete")).toEqual({
    method: "DELETE",
    path: "/schedules/nightly?namespace=shop",
    body: undefined,
    cli: "plait schedules delete nightly -n shop",
    python: 'await engine.schedules.delete("nightly", namespace="shop")',
  });
});
