import { act, cleanup, fireEvent, render, renderHook, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { DeadLetter } from "../../api/types";
import { MeProvider } from "../../shell/me";
import { Nav } from "../../shell/Nav";
import { navigate } from "../../shell/router";
import DeadLetters from "./index";
import { useLetters } from "./use-letters";

/** A server with so many dead letters, and as many approvals. */
let many: number;
let asked: string[];

const fetch = vi.fn(async (url: string) => {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  asked.push(pathname + new URL(url, "http://localhost").search);
  return new Response(JSON.stringify(answer(pathname.replace("/api/v1", ""), Number(searchParams.get("limit")))));
});

function answer(path: string, limit: number): unknown {
  if (path === "/me")
    return { name: "x", role: "admin", namespace: "*", mode: "open", version: "0", namespaces: [], dialects: [] };
  const found = Array.from({ length: Math.min(many, limit) }, (_, n) => letter(n));
  const next = many > limit ? { next: "c" } : {};
  return path === "/dlq" ? { dead_letters: found, ...next } : { approvals: found, ...next };
}

function letter(n: number): DeadLetter {
  const error = { code: "task.failed", message: "closed", kind: "error" } as DeadLetter["error"];
  const place = { id: `r-${n}:gate`, run_id: `r-${n}`, namespace: "default", node: "gate" };
  return { ...place, label: "step `gate`", attempts: 2, error, at: n, status: "pending" };
}

beforeEach(() => {
  many = 0;
  asked = [];
  vi.stubGlobal("fetch", fetch);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function open() {
  act(() => navigate("/dlq"));
  render(
    <MeProvider>
      <DeadLetters />
    </MeProvider>,
  );
  await screen.findByText("Dead letters");
}

const counts = () => [...document.querySelectorAll(".nav-count")].map((one) => one.textContent);
const letters = () => document.querySelectorAll("article").length;

test.each([
  [1, "1"],
  [99, "99"],
  [100, "99+"],
  [100_000, "99+"],
])("the navigation counts %i dead letters as %s, and loads no more than it counts", async (count, shown) => {
  many = count;
  render(<Nav />);
  await vi.waitFor(() => expect(counts()).toEqual([`${shown} open`, `${shown} open`]));
  expect(asked.sort()).toEqual(["/api/v1/approvals?limit=100", "/api/v1/dlq?limit=100"]);
});

test("a long list is loaded in steps, and says when it can't be loaded to its end", async () => {
  many = 501;
  const { result } = renderHook(() => useLetters("pending", undefined));
  for (const length of [100, 200, 300, 400]) {
    await vi.waitFor(() => expect(result.current.data?.dead_letters).toHaveLength(length));
    expect(result.current.cut).toBe(false);
    act(() => result.current.more?.());
    expect(result.current.data?.dead_letters).toHaveLength(length); // until the longer one is there
  }
  await vi.waitFor(() => expect(result.current.data?.dead_letters).toHaveLength(500));
  expect([result.current.more, result.current.cut]).toEqual([undefined, true]);
});

test("a list that is longer than a page leads on", async () => {
  many = 101;
  await open();
  fireEvent.click(await screen.findByText("Show more"));
  await vi.waitFor(() => expect(letters()).toBe(101));
  expect(screen.queryByText("Show more")).toBeNull();
  expect(screen.queryByText(/Only the oldest/)).toBeNull();
});
