import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { JsonDiff } from "./JsonDiff";

afterEach(cleanup);

test("equal values say so", () => {
  render(<JsonDiff a={{ a: [1] }} b={{ a: [1] }} />);
  expect(screen.getByText("No difference.")).toBeTruthy();
});

test("each change has a word beside its colour", () => {
  render(<JsonDiff a={{ status: "ok", old: 1, same: true }} b={{ status: "failed", new: 2, same: true }} />);
  expect(screen.getByText("1 changed, 1 added, 1 removed")).toBeTruthy();
  for (const word of ["changed", "added", "removed"]) expect(screen.getByText(word)).toBeTruthy();
  expect(screen.getByText('"failed"')).toBeTruthy();
});

test("what did not change is folded, and can be opened", () => {
  render(<JsonDiff a={{ a: 1, b: 2, c: 3 }} b={{ a: 1, b: 2, c: 4 }} />);
  expect(screen.queryByText("2", { selector: "code" })).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "2 unchanged" }));
  expect(screen.getByText("2", { selector: "code" })).toBeTruthy();
});

test("values that are there on one side only can be compared, too", () => {
  render(<JsonDiff a={undefined} b={{ a: 1 }} />);
  expect(screen.getByText("nothing")).toBeTruthy();
});

test("HTML is only text", () => {
  render(<JsonDiff a={{ x: "<b>old</b>" }} b={{ x: "<img src=x>", "<i>": 1 }} />);
  expect(document.querySelector("b, img, i")).toBeNull();
});

test("a megabyte on each side opens at once, in portions", () => {
  const make = (shift: number) =>
    Array.from({ length: 12_000 }, (_, n) => ({
      n,
      text: `the text of item number ${n}`,
      more: (n + shift) % 3 === 0,
    }));
  const started = performance.now();
  render(<JsonDiff a={make(0)} b={make(1)} />);
  expect(performance.now() - started).toBeLessThan(5000);
  expect(screen.getByText(/Show more/)).toBeTruthy();
  expect(document.querySelectorAll("li").length).toBeLessThan(500);
});
