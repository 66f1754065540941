/** A part of the graph as a form: every change goes into the document, and a change from elsewhere into the form. */

import { useEffect, useRef } from "react";
import type { Json } from "../../../api/types";
import { equal } from "../../../components/JsonDiffModel";
import { SchemaForm, useSchemaForm } from "../../../components/SchemaForm";
import type { Schema } from "../../../components/SchemaFormModel";
import { aimedAtField, type Problem } from "../problems";

interface Props {
  label: string;
  schema: Schema;
  value: Json;
  onChange: (value: Json | undefined) => void;
  /** With pointers into the value. */
  problems: Problem[];
}

export function PartForm(props: Props) {
  const { value, onChange } = props;
  const seen = useRef({ value, turn: 0 });
  // Undone, or edited as JSON: the form begins anew.
  if (!equal(seen.current.value, value)) seen.current = { value, turn: seen.current.turn + 1 };
  const change = (next: Json | undefined) => {
    seen.current = { ...seen.current, value: next ?? null };
    onChange(next);
  };
  return <Form key={seen.current.turn} {...props} onChange={change} />;
}

function Form({ label, schema, value, onChange, problems }: Props) {
  const form = useSchemaForm(schema, value, problems.map(aimedAtField));
  const { now } = form;
  const before = useRef(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what a person changed in the form is told
  useEffect(() => {
    if (equal(now ?? null, before.current)) return;
    before.current = now ?? null;
    onChange(now);
  }, [now]);
  return <SchemaForm form={form} label={label} />;
}
