/** A form made from a JSON Schema, with a switch to raw JSON that keeps the value. */

import { useId } from "react";
import { Button } from "./Button";
import { rawOf } from "./SchemaFormDraft";
import { FieldView } from "./SchemaFormField";
import { fieldOf } from "./SchemaFormModel";
import { FormContext, type FormState } from "./SchemaFormState";
import "./SchemaForm.css";

export { type FormState, useSchemaForm } from "./SchemaFormState";

interface Props {
  form: FormState;
  /** What the whole is called: "Input", "Answer". */
  label: string;
  disabled?: boolean;
}

export function SchemaForm({ form, label, disabled = false }: Props) {
  const { raw, rawOnly, rawProblem, draft, setRaw } = form;
  return (
    <FormContext value={form}>
      <fieldset className="schema-form" ref={form.box} disabled={disabled}>
        <legend>{label}</legend>
        {!rawOnly && (
          <Button
            look="ghost"
            className="small schema-switch"
            aria-pressed={raw !== undefined}
            disabled={raw !== undefined && rawProblem !== undefined}
            onClick={() => setRaw(raw === undefined ? rawOf(draft) : undefined)}
          >
            {raw === undefined ? "Edit as JSON" : "Back to the form"}
          </Button>
        )}
        {raw === undefined ? <Fields form={form} label={label} /> : <RawField form={form} raw={raw} label={label} />}
      </fieldset>
    </FormContext>
  );
}

function Fields({ form, label }: { form: FormState; label: string }) {
  const field = fieldOf(form.schema, form.schema);
  const alone = field.kind !== "object" && field.kind !== "list" && field.kind !== "union";
  if (field.kind === "const" && field.value === null) return <p className="muted">No input needed.</p>;
  return (
    <FieldView
      schema={form.schema}
      pointer=""
      label={alone ? "Value" : label}
      required
      bare
      draft={form.draft}
      onChange={form.setDraft}
      problems={form.problems}
    />
  );
}

function RawField({ form, raw, label }: { form: FormState; raw: string; label: string }) {
  const id = useId();
  const { rawProblem, problems } = form;
  const told = rawProblem ? [rawProblem] : problems.map(({ pointer, message }) => `${pointer || "/"} ${message}`);
  const rows = Math.min(24, Math.max(6, raw.split("\n").length + 1));
  return (
    <div className="field">
      <textarea
        className="input mono"
        aria-label={`${label} as JSON`}
        aria-invalid={told.length > 0 || undefined}
        aria-describedby={id}
        rows={rows}
        spellCheck={false}
        value={raw}
        onChange={(event) => form.setRaw(event.target.value)}
      />
      <ul id={id} className="field-error" aria-live="polite">
        {told.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      {form.rawOnly && told.length === 0 && <p className="field-hint">Any JSON value, or leave empty.</p>}
    </div>
  );
}
