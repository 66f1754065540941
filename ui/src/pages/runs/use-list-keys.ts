/** j and k walk over the rows by moving the focus, so that Enter, Tab and screen readers just work. */

import { useKey } from "../../shell/keys";

const ROW = "[data-run-row]";

function links(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(ROW)];
}

function move(step: number) {
  const all = links();
  const at = all.indexOf(document.activeElement as HTMLElement);
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

export function useListKeys(toggle: (id: string) => void): void {
  const group = "Runs";
  useKey("j", () => move(1), { label: "Next run", group });
  useKey("k", () => move(-1), { label: "Previous run", group });
  useKey("ArrowDown", () => move(1));
  useKey("ArrowUp", () => move(-1));
  // Listed for the help only: a focused link opens by itself.
  useKey("Enter", () => links()[0]?.click(), { label: "Open the run", group });
  useKey(
    "x",
    () => {
      const id = (document.activeElement as HTMLElement | null)?.dataset.runRow;
      if (id) toggle(id);
    },
    { label: "Select to compare", group },
  );
}
