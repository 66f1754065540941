import { afterEach, expect, test, vi } from "vitest";
import { ApiProblem, api, problemOf } from "./client";
import { withQuery } from "./namespace";

afterEach(() => {
  vi.unstubAllGlobals();
  // biome-ignore lint/suspicious/noDocumentCookie: what the page itself reads
  document.cookie = "plait_csrf=; max-age=0";
});

function answering(answer: Response) {
  const fetch = vi.fn(async () => answer);
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

test("a problem of the server comes as it is", async () => {
  const problem = {
    code: "kernel.run_exists",
    title: "run x exists",
    status: 409,
    detail: "…",
    type: "urn:x",
    fix: "another id",
  };
  answering(new Response(JSON.stringify(problem), { status: 409 }));
  const error = await api.post("/runs").catch((one: unknown) => one);
  expect(error).toBeInstanceOf(ApiProblem);
  expect((error as ApiProblem).problem).toEqual(problem);
});

test("an answer that is no problem still says what happened", async () => {
  expect(await problemOf(new Response("<html>bad gateway</html>", { status: 502 }))).toMatchObject({
    code: "http.unexpected",
    status: 502,
  });
});

test("a server that can't be reached is a problem with a way out", async () => {
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => Promise.reject(new TypeError("failed to fetch"))),
  );
  const error = await api.get("/me").catch((one: unknown) => one);
  expect((error as ApiProblem).problem).toMatchObject({
    code: "http.unreachable",
    fix: expect.stringContaining("plait"),
  });
});

test("what changes something carries the proof that it comes from this page", async () => {
  // biome-ignore lint/suspicious/noDocumentCookie: set by the server in real life
  document.cookie = "plait_csrf=to%20ken";
  const fetch = answering(new Response("{}"));
  await api.post("/runs", { definition: "order" }, { namespace: "shop" });
  const [url, options] = fetch.mock.calls[0] as unknown as [string, RequestInit];
  expect(url).toBe("/api/v1/runs?namespace=shop");
  expect(options.headers).toMatchObject({ "x-plait-csrf": "to ken", "content-type": "application/json" });
});

test("a query leaves out what is empty and repeats lists", () => {
  expect(withQuery("/runs?a=1", { q: "", status: undefined, label: ["k:v", "x:y z"], limit: 5 })).toBe(
    "/runs?a=1&label=k%3Av&label=x%3Ay+z&limit=5",
  );
});
