/** A document under way: its value with what can be undone, the same as text, and whether it differs from what is saved. */

import { useEffect, useMemo, useState } from "react";
import type { Json } from "../../api/types";
import { equal } from "../../components/JsonDiffModel";
import { parseRaw } from "../../components/SchemaFormDraft";
import type { Loaded } from "./documents";
import { draftOf, keepDraft } from "./drafts";
import { begin, change, type History, redo, undo } from "./history";
import { makePatch, type Operation } from "./json-patch";

export interface Document {
  value: Json;
  base: Loaded;
  /** What makes the saved one into this. */
  operations: Operation[];
  dirty: boolean;
  /** `mark`: changes of the same thing in a row are one to undo. */
  change: (value: Json, mark?: string) => void;
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
  text: string;
  setText: (text: string) => void;
  /** The text is no JSON; the value is what it was before. */
  broken: boolean;
  /** It is saved, or stands on what somebody else has saved. */
  rebase: (base: Loaded, value: Json) => void;
}

/** `name`: under which what is not saved is kept in this tab. */
export function useDocument(name: string, loaded: Loaded): Document {
  const [base, setBase] = useState(loaded);
  const [history, setHistory] = useState<History<Json>>(() => {
    const draft = draftOf(name, loaded);
    return draft === undefined ? begin(loaded.value) : change(begin(loaded.value), draft);
  });
  const [typed, setTyped] = useState<{ text: string; value: Json }>();
  const value = history.now;
  const operations = useMemo(() => makePatch(base.value, value), [base, value]);
  const dirty = operations.length > 0;
  useEffect(() => keepDraft(name, base, dirty ? value : undefined), [name, base, dirty, value]);
  // The text as typed, for as long as it means the value.
  const own = typed && equal(typed.value, value) ? typed.text : undefined;
  const written = useMemo(() => JSON.stringify(value, null, 2), [value]);
  const text = own ?? written;
  return {
    value,
    base,
    operations,
    dirty,
    change: (next, mark) => setHistory((old) => (equal(old.now, next) ? old : change(old, next, mark))),
    undo: history.past.length > 0 ? () => setHistory(undo) : undefined,
    redo: history.future.length > 0 ? () => setHistory(redo) : undefined,
    text,
    setText: (next) => {
      const parsed = parseRaw(next);
      const read = parsed.problem === undefined ? ((parsed.value ?? null) as Json) : undefined;
      setTyped({ text: next, value: read === undefined ? value : read });
      if (read !== undefined) setHistory((old) => (equal(old.now, read) ? old : change(old, read, "text")));
    },
    broken: own !== undefined && parseRaw(own).problem !== undefined,
    rebase: (next, merged) => {
      setBase(next);
      setHistory((old) => (equal(old.now, merged) ? old : change(old, merged)));
    },
  };
}
