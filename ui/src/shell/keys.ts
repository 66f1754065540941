/**
 * Keys: pages register what they do with `useKey`, and the help (`?`) lists what is registered. A combination is a
 * key ("/", "Enter", "ArrowUp") or two in a row ("g r"). Typing in a field triggers nothing; while a dialog is open
 * only the dialog's own keys work.
 */

import { createContext, useContext, useEffect, useLayoutEffect, useRef } from "react";

export interface Shortcut {
  combo: string;
  label: string;
  group: string;
}

interface Entry extends Shortcut {
  run: (event: KeyboardEvent) => void;
  /** The whole app's; a page's key of the same name wins. */
  global: boolean;
  depth: number;
}

export interface KeyOptions {
  label?: string;
  group?: string;
  global?: boolean;
  enabled?: boolean;
}

const entries: Entry[] = [];
/** How many dialogs are open, and (in the tree) in how many of them a part stands. */
let open = 0;
export const KeyDepth = createContext(0);
let first: string | undefined;
let forget: number | undefined;

export function useKey(combo: string, run: (event: KeyboardEvent) => void, options: KeyOptions = {}): void {
  const latest = useRef(run);
  latest.current = run;
  const depth = useContext(KeyDepth);
  const { label = "", group = "This page", global = false, enabled = true } = options;
  useEffect(() => {
    if (!enabled) return;
    const entry: Entry = { combo, label, group, global, depth, run: (event) => latest.current(event) };
    entries.push(entry);
    return () => {
      entries.splice(entries.indexOf(entry), 1);
    };
  }, [combo, label, group, global, enabled, depth]);
}

/** While mounted, keys of what lies beneath are off. Returns the depth to give to what is inside. */
export function useKeyLayer(): number {
  useLayoutEffect(() => {
    open += 1;
    return () => {
      open -= 1;
    };
  }, []);
  return useContext(KeyDepth) + 1;
}

/** All that can be pressed now, each combination once. */
export function shortcuts(): Shortcut[] {
  const seen = new Map<string, Shortcut>();
  for (const { combo, label, group, global } of entries) {
    if (label && !(global && seen.has(combo))) seen.set(combo, { combo, label, group });
  }
  return [...seen.values()];
}

function find(combo: string): Entry | undefined {
  const fitting = entries.filter((entry) => entry.combo === combo && entry.depth === open);
  return fitting.findLast((entry) => !entry.global) ?? fitting.at(-1);
}

export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) && event.key !== "Escape") return;
  if (isSlider(event.target) && MOVES.has(event.key)) return;
  // Enter and space belong to the focused button or link.
  if ((event.key === "Enter" || event.key === " ") && isControl(event.target)) return;
  const sequence = first === undefined ? undefined : find(`${first} ${event.key}`);
  const entry = sequence ?? find(event.key);
  first = undefined;
  window.clearTimeout(forget);
  if (entry) {
    event.preventDefault();
    entry.run(event);
    return;
  }
  if (entries.some((known) => known.combo.startsWith(`${event.key} `))) {
    first = event.key;
    forget = window.setTimeout(() => {
      first = undefined;
    }, 1200);
  }
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox], [type=range]), textarea, select"))
  );
}

/** Keys that move a slider. */
const MOVES: ReadonlySet<string> = new Set([
  "ArrowLeft",
  "ArrowRight",
  "ArrowUp",
  "ArrowDown",
  "Home",
  "End",
  "PageUp",
  "PageDown",
]);

function isSlider(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input[type=range]");
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("a[href], button, summary, [role=menuitem], [role=button]");
}

if (typeof window !== "undefined") window.addEventListener("keydown", handleKey);
