/** One field of a form: picks the control that fits its schema, or JSON when the value is of another kind. */

import { type ReactNode, useState } from "react";
import type { Json } from "../api/types";
import { CheckField, Field, TextArea } from "./Field";
import type { Problem } from "./SchemaFormCheck";
import { draftOf, fromLocalTime, parseRaw, rawOf, sameDraft, textOf, toLocalTime } from "./SchemaFormDraft";
import { ListGroup, ObjectGroup, UnionGroup } from "./SchemaFormGroups";
import { type Draft, fieldOf, isObject, type Schema, type Field as SchemaField, Unfinished } from "./SchemaFormModel";
import { useForm } from "./SchemaFormState";
import { defaultText, limitsOf } from "./SchemaFormWords";

export interface FieldViewProps {
  schema: Schema;
  pointer: string;
  label: string;
  required: boolean;
  /** Without a frame of its own: the whole form. */
  bare?: boolean;
  draft: Draft;
  onChange: (draft: Draft) => void;
  /** Those at this place and below it. */
  problems: Problem[];
}

export interface PartProps<K extends SchemaField["kind"] = SchemaField["kind"]> extends FieldViewProps {
  field: Extract<SchemaField, { kind: K }>;
}

export function FieldView(props: FieldViewProps) {
  const form = useForm();
  const field = fieldOf(props.schema, form.schema);
  if (!fits(field, props.draft)) return <JsonField {...props} field={field} />;
  switch (field.kind) {
    case "text":
    case "number":
      return <TextLike {...props} field={field} />;
    case "boolean":
      return <BooleanField {...props} field={field} />;
    case "choice":
      return <ChoiceField {...props} field={field} options={field.options} />;
    case "const":
      return <ConstField {...props} field={field} />;
    case "object":
      return <ObjectGroup {...props} field={field} />;
    case "list":
      return <ListGroup {...props} field={field} />;
    case "union":
      return <UnionGroup {...props} field={field} />;
    case "any":
      return <JsonField {...props} field={field} />;
  }
}

/** A value that came from raw JSON may be of another kind than its field; an object without names is only JSON. */
function fits(field: SchemaField, draft: Draft): boolean {
  if (field.kind === "object" && field.properties.length === 0 && field.rest === true) return false;
  if (draft === undefined || draft === null || field.kind === "union" || field.kind === "any") return true;
  switch (field.kind) {
    case "text":
    case "number":
      return textOf(field, draft) !== undefined;
    case "boolean":
      return typeof draft === "boolean";
    case "choice":
      return field.options.some((option) => sameDraft(option as Draft, draft));
    case "const":
      return sameDraft(field.value as Draft, draft);
    case "object":
      return isObject(draft);
    case "list":
      return Array.isArray(draft);
  }
}

export function Label({ label, required }: { label: string; required: boolean }): ReactNode {
  if (required) return label;
  return (
    <>
      {label} <span className="schema-optional">optional</span>
    </>
  );
}

export function hintOf(field: SchemaField): string | undefined {
  return (
    [field.description, limitsOf(field.schema), defaultText(field.schema)].filter(Boolean).join(" · ") || undefined
  );
}

export function messageOf(problems: Problem[], pointer: string): string | undefined {
  const texts = problems.map((problem) => {
    const below = problem.pointer.slice(pointer.length);
    return below ? `${below}: ${problem.message}` : problem.message;
  });
  return texts.join(" ") || undefined;
}

function TextLike({ field, label, pointer, required, draft, onChange, problems }: PartProps<"text" | "number">) {
  const form = useForm();
  // The text as typed ("1.0", "1e3"), for as long as it means the draft.
  const [typed, setTyped] = useState("");
  const native = field.kind === "text" && (field.format === "date" || field.format === "date-time");
  const shown = sameDraft(draftOf(field, typed, required), draft) ? typed : (textOf(field, draft) ?? "");
  const change = (text: string): void => {
    setTyped(text);
    form.edit(pointer);
    onChange(draftOf(field, text, required));
  };
  const common = { name: pointer, "aria-required": required, onBlur: () => form.touch(pointer) };
  return (
    <Field
      label={<Label label={label} required={required} />}
      hint={hintOf(field)}
      error={messageOf(problems, pointer)}
    >
      {(wired) => {
        if (field.kind === "text" && field.format === "long") {
          return (
            <textarea
              className="input"
              rows={4}
              {...common}
              {...wired}
              value={shown}
              onChange={(event) => change(event.target.value)}
            />
          );
        }
        if (native) return <DateInput {...common} {...wired} field={field} text={shown} onChange={change} />;
        return (
          <input
            className="input"
            type="text"
            autoComplete="off"
            inputMode={field.kind === "number" ? (field.integer ? "numeric" : "decimal") : undefined}
            {...common}
            {...wired}
            value={shown}
            onChange={(event) => change(event.target.value)}
          />
        );
      }}
    </Field>
  );
}

type DateProps = {
  field: Extract<SchemaField, { kind: "text" | "number" }>;
  text: string;
  onChange: (text: string) => void;
} & Record<string, unknown>;

/** The browser's picker; a text that it can't show (from a default or raw JSON) stays a text. */
function DateInput({ field, text, onChange, ...rest }: DateProps) {
  const time = field.kind === "text" && field.format === "date-time";
  const shown = time ? toLocalTime(text) : /^(\d{4}-\d{2}-\d{2})?$/.test(text) ? text : undefined;
  if (shown === undefined) {
    return (
      <input className="input" type="text" {...rest} value={text} onChange={(event) => onChange(event.target.value)} />
    );
  }
  return (
    <input
      className="input"
      type={time ? "datetime-local" : "date"}
      step={time ? 1 : undefined}
      {...rest}
      value={shown}
      onChange={(event) => onChange(time ? fromLocalTime(event.target.value) : event.target.value)}
    />
  );
}

function BooleanField(props: PartProps<"boolean">) {
  const { field, label, pointer, required, draft, onChange, problems } = props;
  const form = useForm();
  const error = messageOf(problems, pointer);
  const always = required || typeof field.schema.default === "boolean";
  if (!always || field.nullable) return <ChoiceField {...props} options={[true, false]} words={["Yes", "No"]} />;
  return (
    <div className="field">
      <CheckField
        label={label}
        hint={hintOf(field)}
        name={pointer}
        checked={(draft ?? field.schema.default) === true}
        aria-invalid={error ? true : undefined}
        onChange={(event) => {
          form.edit(pointer);
          onChange(event.target.checked);
        }}
      />
      {error && <div className="field-error">{error}</div>}
    </div>
  );
}

type ChoiceProps = PartProps & { options: Json[]; words?: string[] };

function ChoiceField({ field, label, pointer, required, draft, onChange, problems, options, words }: ChoiceProps) {
  const form = useForm();
  const index = draft === undefined || draft === null ? -1 : options.findIndex((one) => sameDraft(one as Draft, draft));
  const none = field.nullable && required ? null : undefined;
  return (
    <Field
      label={<Label label={label} required={required} />}
      hint={hintOf(field)}
      error={messageOf(problems, pointer)}
    >
      {(wired) => (
        <select
          className="input"
          name={pointer}
          aria-required={required}
          {...wired}
          value={index}
          onBlur={() => form.touch(pointer)}
          onChange={(event) => {
            form.edit(pointer);
            const at = Number(event.target.value);
            onChange(at < 0 ? none : (options[at] as Draft));
          }}
        >
          <option value={-1}>{field.nullable || !required ? "—" : "Choose…"}</option>
          {options.map((option, at) => (
            <option key={JSON.stringify(option)} value={at}>
              {words?.[at] ?? (typeof option === "string" ? option : JSON.stringify(option))}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** There is nothing to choose but whether it is there; the tag of a union's branch is chosen with the branch. */
function ConstField(props: PartProps<"const">) {
  const { field, label, required, pointer, problems } = props;
  if (!required) return <ChoiceField {...props} options={[field.value]} />;
  const error = messageOf(problems, pointer);
  if (typeof field.value === "string" && !error) return null;
  return (
    <div className="field">
      <span className="schema-const">
        {label} <code>{JSON.stringify(field.value)}</code>
      </span>
      {error && <div className="field-error">{error}</div>}
    </div>
  );
}

function JsonField({ field, label, pointer, required, draft, onChange, problems }: PartProps) {
  const form = useForm();
  const [typed, setTyped] = useState("");
  const parsed = parseRaw(typed);
  const now = parsed.problem === undefined ? parsed.value : new Unfinished(typed, parsed.problem);
  const shown = sameDraft(now, draft) ? typed : draft instanceof Unfinished ? draft.text : rawOf(draft);
  return (
    <TextArea
      label={<Label label={label} required={required} />}
      hint={hintOf(field) ?? "JSON"}
      error={messageOf(problems, pointer)}
      name={pointer}
      aria-required={required}
      rows={Math.min(12, Math.max(2, shown.split("\n").length))}
      value={shown}
      onBlur={() => form.touch(pointer)}
      onChange={(event) => {
        form.edit(pointer);
        setTyped(event.target.value);
        const next = parseRaw(event.target.value);
        onChange(next.problem === undefined ? next.value : new Unfinished(event.target.value, next.problem));
      }}
    />
  );
}
