import { expect, test } from "vitest";
import { withQuery } from "../../api/namespace";
import { type Filter, fromUrl, isEmpty, NO_FILTER, sameFilter, toApi, toggled, toUrl } from "./filter";
import { BUILT_IN, readViews } from "./saved-views";
import { merged } from "./use-older-runs";

const full: Filter = {
  q: "tea & <b>",
  statuses: ["running", "failed"],
  dialect: "code",
  definition: "order",
  labels: ["team:sales", "region:eu:west"],
  parent: "p-1",
};

test("a filter survives the way through the URL", () => {
  const url = withQuery("/runs", toUrl(full));
  expect(fromUrl(new URLSearchParams(url.split("?")[1]))).toEqual(full);
});

test("an empty URL is no filter", () => {
  expect(isEmpty(fromUrl(new URLSearchParams("")))).toBe(true);
});

test("what a URL can't mean is left out", () => {
  const filter = fromUrl(new URLSearchParams("status=running,nonsense&label=nokey&label=:novalue&label=a:b&label=a:b"));
  expect(filter.statuses).toEqual(["running"]);
  expect(filter.labels).toEqual(["a:b"]);
});

test("the order of statuses and labels makes no other filter", () => {
  expect(sameFilter(full, { ...full, statuses: ["failed", "running"], labels: [...full.labels].reverse() })).toBe(true);
  expect(sameFilter(full, { ...full, q: "" })).toBe(false);
});

test("the API is asked with statuses as one list and labels each", () => {
  expect(toApi(full)).toMatchObject({ status: "working,failed", label: full.labels });
});

test("toggling twice is as before", () => {
  expect(toggled(toggled(["a"], "b"), "b")).toEqual(["a"]);
});

test("every built-in view is a different filter", () => {
  for (const [index, view] of BUILT_IN.entries()) {
    for (const other of BUILT_IN.slice(index + 1)) expect(sameFilter(view.filter, other.filter)).toBe(false);
  }
});

test("kept views that are broken are dropped, the others stay", () => {
  const kept = JSON.stringify([
    null,
    7,
    { name: "x" },
    { name: "Mine", filter: { q: "tea", statuses: ["failed", 3] } },
  ]);
  expect(readViews(kept)).toEqual([
    { name: "Mine", own: true, filter: { ...NO_FILTER, q: "tea", statuses: ["failed"] } },
  ]);
  expect(readViews("{not json")).toEqual([]);
  expect(readViews(null)).toEqual([]);
});

test("older runs give way to their live copies, and leave when they no longer fit", () => {
  const run = (id: string, created_at: number, status: "running" | "failed" = "running") => ({
    id,
    created_at,
    status,
    namespace: "default",
    dialect: "code",
    definition: "d",
  });
  const found = merged(
    [run("c", 3), run("b", 2, "failed")],
    [run("b", 2), run("a", 1), run("gone", 0)],
    new Set(["gone"]),
  );
  expect(found.map((one) => [one.id, one.status])).toEqual([
    ["c", "running"],
    ["b", "failed"],
    ["a", "running"],
  ]);
});
