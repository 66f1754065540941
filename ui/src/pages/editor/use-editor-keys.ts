/** Undo, redo and save by the keys that every editor has. In a text field undo is the browser's own. */

import { useEffect, useRef } from "react";

interface Actions {
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
  save: () => void;
}

export function useEditorKeys(actions: Actions): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const run = actionOf(event, latest.current);
      if (!run) return;
      event.preventDefault();
      run();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}

function actionOf(event: KeyboardEvent, { undo, redo, save }: Actions): (() => void) | undefined {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return undefined;
  if (document.querySelector("dialog[open]")) return undefined;
  const key = event.key.toLowerCase();
  if (key === "s" && !event.shiftKey) return save;
  if (event.target instanceof HTMLElement && event.target.matches("input, textarea, select")) return undefined;
  if (key === "z") return (event.shiftKey ? redo : undo) ?? nothing;
  return key === "y" ? (redo ?? nothing) : undefined;
}

function nothing(): void {}
