import { expect, test } from "vitest";
import type { Node } from "../../../api/types";
import { iterationText, rowsOf, stateText } from "./tree";

const node = (id: string, parent?: string) => ({ id, label: id, kind: "x", status: "running", parent }) as Node;
const NODES = [node("root"), node("block", "root"), node("a", "block"), node("b", "block"), node("other", "gone")];

test("steps are rows in order, each with what it holds right below it", () => {
  const rows = rowsOf(NODES, new Set());
  expect(rows.map(({ node: { id }, level }) => `${level} ${id}`)).toEqual([
    "1 root",
    "2 block",
    "3 a",
    "3 b",
    "1 other",
  ]);
  expect(rows[1]).toMatchObject({ inside: 2, open: true });
});

test("what is folded hides what it holds", () => {
  const rows = rowsOf(NODES, new Set(["block"]));
  expect(rows.map(({ node: { id } }) => id)).toEqual(["root", "block", "other"]);
  expect(rows[1]).toMatchObject({ inside: 2, open: false });
});

test("states and iterations read as words", () => {
  expect(stateText("state.statement.blocks.Continue")).toBe("statement.blocks.Continue");
  expect(stateText(undefined)).toBe("");
  expect(iterationText({ created_in: 2, ended_in: 2 })).toBe("2");
  expect(iterationText({ created_in: 2, ended_in: 5 })).toBe("2 – 5");
  expect(iterationText({ created_in: 2 })).toBe("2 –");
  expect(iterationText({})).toBe("");
});
