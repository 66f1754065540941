import { act, cleanup, configure, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Catalog, GoalsPlan } from "../../api/goals";
import type { Problem } from "../../api/types";
import { MeProvider } from "../../shell/me";
import { location, navigate } from "../../shell/router";
import CatalogPage from "./index";
import { catalogOf, hello, letter, order, total } from "./order.example";

configure({ asyncUtilTimeout: 30_000 }); // only what never appears is missing

interface Asked {
  method: string;
  path: string;
  body: { [key: string]: unknown } | undefined;
}

/** A server with a catalog in it. What it is asked is kept. */
class FakeApi {
  readonly asked: Asked[] = [];
  catalog: Catalog = order;
  problem?: Problem;

  answer(method: string, path: string, body: Asked["body"]): unknown {
    if (path === "/me")
      return { name: "x", role: "admin", namespace: "*", mode: "open", version: "0", namespaces: [], dialects: [] };
    if (method === "GET" && path === "/catalog") return this.catalog;
    if (path === "/plan") return this.plan(body as { input: object });
    if (path === "/runs") return { id: "r-1", namespace: "default", status: "running" };
    if (path === "/definitions") return { step: body?.definition };
    return { orphans: {}, flows: [] };
  }

  /** Of the goal `letter`, for which only `email` can be missing. */
  private plan({ input }: { input: object }) {
    const required = "email" in input ? [] : ["email"];
    const plan: GoalsPlan = {
      goals: ["letter"],
      steps: { letter, total },
      attributes: { total: { providers: ["total"], consumers: ["letter"] } },
      required,
      excluded: { missing: { cached: ["session"] }, satisfied: {}, blocked: {} },
      children: {},
      warnings: [],
    };
    return { dialect: "goals", definition: "letter", valid: required.length === 0, notes: ["mind the gap"], plan };
  }

  readonly fetch = vi.fn(async (url: string, { method = "GET", body }: RequestInit = {}) => {
    const path = url.replace("/api/v1", "").split("?", 1)[0] ?? "";
    const sent = typeof body === "string" ? (JSON.parse(body) as Asked["body"]) : undefined;
    this.asked.push({ method, path, body: sent });
    if (this.problem && method !== "GET") return new Response(JSON.stringify(this.problem), { status: 422 });
    return new Response(JSON.stringify(this.answer(method, path, sent)));
  });

  last(method: string, path: string): Asked | undefined {
    return this.asked.findLast((one) => one.method === method && one.path === path);
  }
}

let server: FakeApi;

beforeEach(() => {
  server = new FakeApi();
  vi.stubGlobal("fetch", server.fetch);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function open(path: string) {
  act(() => navigate(path));
  render(
    <MeProvider>
      <CatalogPage />
    </MeProvider>,
  );
  await screen.findByRole("heading", { name: "Catalog" });
}

const query = () => new URLSearchParams(location().search);

test("the list shows every step with its type, labels and health", async () => {
  await open("/catalog");
  const rows = await screen.findAllByRole("listitem");
  expect(rows).toHaveLength(order.steps.length);
  const row = screen.getByRole("link", { name: /The find/ }).closest("li");
  expect(row?.textContent).toContain("email → gives  customer");
  expect(row?.textContent).toContain("teamcrm");
  expect(within(row as HTMLElement).getByRole("img", { name: "Healthy" })).toBeDefined();
  expect(screen.getByRole("img", { name: "Unhealthy" })).toBeDefined();
});

test("a search narrows the list and is in the address", async () => {
  await open("/catalog");
  fireEvent.change(await screen.findByRole("searchbox", { name: "Find a step" }), { target: { value: "crm" } });
  await screen.findByText("1 of 7 steps");
  expect(query().get("q")).toBe("crm");
});

test("a step's panel tells its inputs, scripts, retries and who is at the other end", async () => {
  await open("/catalog?step=letter");
  const panel = await screen.findByRole("complementary", { name: "Step The letter" });
  const inputs = within(panel).getByRole("region", { name: "Inputs" });
  expect(inputs.textContent).toContain("waits as long as a provider can deliver");
  expect(within(inputs).getByRole("link", { name: "total" }).getAttribute("href")).toContain("step=total");
  expect(panel.textContent).toContain("return total > 0");
  expect(panel.textContent).toContain("up to 3 retries, after 1 s, doubling to at most 1 min");
});

test("an unhealthy step says why", async () => {
  await open("/catalog?step=total");
  const panel = await screen.findByRole("complementary", { name: "Step The total" });
  expect(panel.textContent).toContain("Unhealthyconnection refused");
});

test("only what is in view of ten thousand steps is in the page", async () => {
  server.catalog = catalogOf(Array.from({ length: 10_000 }, (_, n) => ({ ...hello, id: `s${n}`, name: `Step ${n}` })));
  await open("/catalog");
  await screen.findByText("10,000 steps");
  expect(document.querySelectorAll("[data-step-row]").length).toBeLessThan(60);
});

test("unregistering tells who is left without a provider", async () => {
  await open("/catalog?step=total");
  fireEvent.click(await screen.findByRole("button", { name: "Unregister" }));
  const left = await screen.findByRole("region", { name: "Left without a provider", hidden: true });
  expect(left.textContent).toContain("letter");
  const dialog = screen.getByRole("dialog", { hidden: true });
  fireEvent.submit(within(dialog).getByText("Cancel").closest("form") as HTMLFormElement);
  await waitFor(() => expect(server.last("DELETE", "/catalog/total")).toBeDefined());
  expect(query().get("step")).toBeNull();
});

test("what is wrong with a step is told at its line", async () => {
  server.problem = {
    type: "urn:x",
    title: "step 'double': 'type' is 'scrip'",
    status: 422,
    detail: "",
    code: "goals.step_invalid",
    errors: [{ code: "goals.step_invalid", pointer: "/definition/type", message: "'type' is 'scrip'; use 'script'" }],
  };
  await open("/catalog");
  fireEvent.click(await screen.findByRole("button", { name: "Register a step" }));
  const field = (await screen.findByLabelText("Step (JSON)")) as HTMLTextAreaElement;
  fireEvent.change(field, { target: { value: '{\n  "id": "double",\n  "type": "scrip"\n}' } });
  fireEvent.submit(field.closest("form") as HTMLFormElement);
  const told = await screen.findByRole("button", { name: "line 3", hidden: true });
  expect(told.parentElement?.textContent).toContain("/type");
  fireEvent.click(told);
  expect(field.value.slice(field.selectionStart, field.selectionEnd)).toBe('"type": "scrip"');
});

test("text that is no JSON is never sent", async () => {
  await open("/catalog");
  fireEvent.click(await screen.findByRole("button", { name: "Register a step" }));
  const field = await screen.findByLabelText("Step (JSON)");
  fireEvent.change(field, { target: { value: "{" } });
  fireEvent.submit(field.closest("form") as HTMLFormElement);
  expect(screen.getByText(/Invalid JSON/)).toBeDefined();
  expect(server.last("POST", "/definitions")).toBeUndefined();
});

test("a plan names its gap, and runs once that is filled", async () => {
  await open("/catalog?tab=plan&goal=letter");
  const missing = await screen.findByText("Missing inputs:", { exact: false });
  expect(missing.textContent).toBe("Missing inputs: email");
  expect(screen.getByRole("button", { name: "Run" })).toHaveProperty("disabled", true);
  expect(screen.getByRole("region", { name: "Would not run" }).textContent).toContain("missing session");
  expect(screen.getByText("mind the gap")).toBeDefined();
  fireEvent.change(screen.getByLabelText("email"), { target: { value: "ada@example.com" } });
  await screen.findByText("2 steps would run");
  expect(query().getAll("in")).toEqual(["email=ada@example.com"]);
  await waitFor(() => expect(screen.getByRole("button", { name: "Run" })).toHaveProperty("disabled", false));
  fireEvent.click(screen.getByRole("button", { name: "Run" }));
  await waitFor(() => expect(location().path).toBe("/runs/r-1"));
  expect(server.last("POST", "/runs")?.body).toEqual({
    dialect: "goals",
    definition: { goals: ["letter"] },
    input: { email: "ada@example.com" },
  });
});

test("a goal is found by typing and taken with Enter", async () => {
  await open("/catalog?tab=plan");
  const finder = await screen.findByRole("combobox", { name: "Add a goal" });
  fireEvent.focus(finder);
  fireEvent.change(finder, { target: { value: "letter" } });
  await screen.findByRole("option", { name: /The letter/ });
  fireEvent.keyDown(finder, { key: "Enter" });
  expect(query().getAll("goal")).toEqual(["letter"]);
  fireEvent.click(await screen.findByRole("button", { name: "Remove the goal letter" }));
  expect(query().getAll("goal")).toEqual([]);
});

test("an empty catalog says what steps are and how to register one", async () => {
  server.catalog = catalogOf([]);
  await open("/catalog");
  await screen.findByText("No steps yet");
  expect(screen.getAllByRole("button", { name: "Register a step" })).toHaveLength(2);
});
