/** The state of one form: its draft, what is wrong with it, and what of that a person should see by now. */

import { createContext, type RefObject, useContext, useEffect, useMemo, useRef, useState } from "react";
import type { Json } from "../api/types";
import { check, type Problem } from "./SchemaFormCheck";
import { firstDraft, jsonOf, parseRaw, rawOf } from "./SchemaFormDraft";
import { type Draft, fieldOf, type Schema } from "./SchemaFormModel";
import { aimed } from "./SchemaFormProblems";

export interface FormState {
  schema: Schema;
  /** The schema says too little to draw fields: JSON is all there is. */
  rawOnly: boolean;
  draft: Draft;
  setDraft: (draft: Draft) => void;
  raw: string | undefined;
  rawProblem: string | undefined;
  setRaw: (text: string | undefined) => void;
  /** Problems to show: of fields that were left, all after a try to send, and the server's. */
  problems: Problem[];
  touch: (pointer: string) => void;
  edit: (pointer: string) => void;
  /** The value if it is good; else undefined, and from then on every problem is shown. */
  take: () => { value: Json | undefined } | undefined;
  /** The value as it is now, good or not. */
  now: Json | undefined;
  fail: (problems: Problem[]) => void;
  box: RefObject<HTMLFieldSetElement | null>;
}

/** `outside`: problems that somebody else finds, in what is shown now. */
export function useSchemaForm(schema: Schema = true, initial?: Json, outside: readonly Problem[] = []): FormState {
  const rawOnly = useMemo(() => isRaw(schema), [schema]);
  const [draft, setDraft] = useState<Draft>(() => initial ?? firstDraft(schema, schema));
  const [raw, setRawText] = useState<string | undefined>(() => (rawOnly ? rawOf(draft) : undefined));
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [tries, setTries] = useState(0);
  const [told, setTold] = useState<Problem[]>([]);
  const box = useRef<HTMLFieldSetElement>(null);
  const wrong = useMemo(() => findProblems(schema, draft), [schema, draft]);
  const rawProblem = raw === undefined ? undefined : parseRaw(raw).problem;
  const own = wrong.filter(({ pointer }) => tries > 0 || touched.has(pointer));

  useEffect(() => {
    if (tries > 0) box.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [tries]);

  const setRaw = (text: string | undefined): void => {
    setRawText(text);
    setTold([]);
    const parsed = text === undefined ? undefined : parseRaw(text);
    if (parsed && parsed.problem === undefined) setDraft(parsed.value);
  };
  return {
    schema,
    rawOnly,
    draft,
    setDraft,
    raw,
    rawProblem,
    setRaw,
    problems: [...own, ...told, ...outside],
    touch: (pointer) => setTouched((old) => (old.has(pointer) ? old : new Set([...old, pointer]))),
    edit: (pointer) => setTold((old) => old.filter((problem) => problem.pointer !== pointer)),
    take: () => {
      setTold([]);
      if (rawProblem === undefined && wrong.length === 0) return { value: jsonOf(draft) };
      setTries(tries + 1);
      return undefined;
    },
    now: jsonOf(draft),
    fail: (problems) => {
      setTold(problems.map(aimed));
      setTries(tries + 1);
    },
    box,
  };
}

/** Without a schema any JSON will do, also none. */
function findProblems(schema: Schema, draft: Draft): Problem[] {
  return schema === true && draft === undefined ? [] : check(schema, draft);
}

function isRaw(schema: Schema): boolean {
  const field = fieldOf(schema, schema);
  return field.kind === "any" || (field.kind === "object" && field.properties.length === 0 && field.rest === true);
}

export const FormContext = createContext<FormState | undefined>(undefined);

export function useForm(): FormState {
  const form = useContext(FormContext);
  if (!form) throw new Error("a field outside of a SchemaForm");
  return form;
}
