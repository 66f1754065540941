import { expect, test } from "vitest";
import type { SourceView } from "../../../api/schema";
import type { Node } from "../../../api/types";
import { currentNodes, fileToShow, litOf, wordsOf } from "./lit";

const TEXT = "workflow W() andThen {\n    a = F(\n        x = 1)\n    b = F() c = F()\n}";

const place = (line: number, column: number, end_line: number, end_column: number, file = 0) => ({
  file,
  line,
  column,
  end_line,
  end_column,
});
const SOURCE: SourceView = {
  language: "afl",
  files: ["w.afl", "lib.afl"],
  places: [place(1, 1, 1, 1), place(2, 5, 3, 15), place(4, 5, 4, 12), place(4, 13, 4, 20), place(1, 1, 1, 1, 1)],
  nodes: { root: 0, block: 0, a: 1, b: 2, c: 3, inner: 4 },
};
const node = (id: string, status: Node["status"], parent?: string) =>
  ({ id, label: id, kind: "x", status, parent }) as Node;
const NODES = [
  node("root", "running"),
  node("block", "running", "root"),
  node("a", "completed", "block"),
  node("b", "waiting", "block"),
  node("c", "pending", "block"),
];

test("the statement that waits is lit, what only holds it is not", () => {
  expect(currentNodes(NODES).map(({ id }) => id)).toEqual(["b"]);
  const { marks, first } = litOf(SOURCE, NODES, { file: 0, text: TEXT, selected: undefined });
  expect(marks).toEqual([{ line: 3, from: 4, to: 11, look: "lit lit-waiting" }]);
  expect(first).toBe(3);
});

test("a statement over several lines is lit on each of them, from its first word", () => {
  const nodes = [node("a", "running")];
  const { marks } = litOf(SOURCE, nodes, { file: 0, text: TEXT, selected: undefined });
  expect(marks.map(({ line, from, to }) => [line, from, to])).toEqual([
    [1, 4, 10],
    [2, 8, 14],
  ]);
});

test("where a step failed is lit, not all that failed through it; a step that is still running is lit as well", () => {
  const nodes = [
    node("root", "running"),
    node("block", "failed", "root"),
    node("a", "failed", "block"),
    node("b", "running", "root"),
  ];
  expect(currentNodes(nodes).map(({ id }) => id)).toEqual(["a", "b"]);
});

test("a line says how all its steps stand, the most urgent first", () => {
  const { byLine } = litOf(SOURCE, NODES, { file: 0, text: TEXT, selected: undefined });
  expect(byLine.get(3)?.status).toBe("waiting");
  expect(wordsOf(byLine.get(3) ?? { nodes: [], status: "pending" })).toBe("2 steps: 1 waiting, 1 pending");
  expect(wordsOf(byLine.get(1) ?? { nodes: [], status: "pending" })).toBe("a: completed");
});

test("the file with the step that was chosen is shown, or else the one where something runs", () => {
  const inner = [...NODES, node("inner", "running", "b")];
  expect(fileToShow(SOURCE, NODES, undefined)).toBe(0);
  expect(fileToShow(SOURCE, inner, undefined)).toBe(1);
  expect(fileToShow(SOURCE, inner, "a")).toBe(0);
});

test("what was chosen is marked, and nodes without a place are left out", () => {
  const { marks } = litOf(SOURCE, [...NODES, node("nowhere", "running")], { file: 0, text: TEXT, selected: "a" });
  expect(marks.filter(({ look }) => look === "lit-chosen")).toHaveLength(2);
});
