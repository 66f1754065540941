import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { TextDiff } from "./TextDiff";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const LONG = Array.from({ length: 30 }, (_, n) => `line ${n}`);

function narrow() {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
}

test("equal texts say so", () => {
  render(<TextDiff a="x" b="x" />);
  expect(screen.getByText("No differences.")).toBeTruthy();
});

test("a wide page has both sides in one row, with their names", () => {
  render(<TextDiff a={"a\nb"} b={"a\nc"} nameA="v1" nameB="v2" />);
  expect(screen.getByRole("columnheader", { name: "v1" })).toBeTruthy();
  const rows = screen.getAllByRole("row").map((row) => row.textContent);
  expect(rows.at(-1)).toBe("2−removedb2+addedc");
});

test("a narrow page has the old lines above the new ones", () => {
  narrow();
  render(<TextDiff a={"a\nb\nc"} b={"a\nB\nC"} />);
  expect(
    screen
      .getAllByRole("row")
      .map((row) => row.textContent)
      .slice(1),
  ).toEqual(["1a", "2−removedb", "3−removedc", "2+addedB", "3+addedC"]);
});

test("far from a change lines are folded, and can be opened", () => {
  render(<TextDiff a={LONG.join("\n")} b={[...LONG.slice(0, -1), "other"].join("\n")} />);
  expect(screen.queryByText("line 5")).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "Show 26 unchanged lines" }));
  expect(screen.getAllByText("line 5")).toHaveLength(2);
});

test("HTML is only text", () => {
  render(<TextDiff a="<b>x</b>" b="<img src=x>" />);
  expect(document.querySelector("b, img")).toBeNull();
});
