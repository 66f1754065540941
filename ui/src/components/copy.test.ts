import { expect, test } from "vitest";
import { commandLine } from "./copy";

test("a command line says which server it is about, but keys are made on the database", () => {
  const path = "/runs/a/cancel";
  expect(commandLine({ method: "POST", path, cli: "plait cancel a" }, "http://127.0.0.1:8080")).toBe(
    "plait cancel a --db http://127.0.0.1:8080",
  );
  expect(commandLine({ method: "POST", path, cli: "plait keys list" }, "http://127.0.0.1:8080")).toBe(
    "plait keys list",
  );
  expect(commandLine({ method: "POST", path }, "http://127.0.0.1:8080")).toBeUndefined();
});
