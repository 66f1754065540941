/** Fields that hold fields: objects, lists and unions, and the frame around them. */

import { type ReactNode, useState } from "react";
import { Button, IconButton } from "./Button";
import { escapePointer } from "./JsonDiffModel";
import { closestBranch } from "./SchemaFormCheck";
import { addedDraft, renamed, withProperty } from "./SchemaFormDraft";
import { FieldView, hintOf, Label, messageOf, type PartProps } from "./SchemaFormField";
import type { Draft, DraftObject, Field, Schema } from "./SchemaFormModel";
import { split } from "./SchemaFormProblems";
import { useForm } from "./SchemaFormState";
import { labelOf, spoken } from "./SchemaFormWords";

interface FrameProps extends PartProps {
  own: string | undefined;
  children: ReactNode;
}

/** A part that may be left out starts as a button, and has one to take it out again. */
function Frame({ field, label, pointer, required, bare, draft, onChange, own, schema, children }: FrameProps) {
  const form = useForm();
  const there = draft !== undefined && draft !== null;
  const error = own && (
    <p className="field-error" role="alert">
      {own}
    </p>
  );
  if (bare && there) {
    return (
      <div className="schema-fields">
        {error}
        {children}
      </div>
    );
  }
  const add = (): void => {
    form.edit(pointer);
    onChange(addedDraft(schema, form.schema));
  };
  return (
    <fieldset className="schema-group" aria-invalid={own ? true : undefined}>
      <legend>
        <Label label={label} required={required} />
      </legend>
      {there && (!required || field.nullable) && (
        <IconButton
          icon="close"
          label={`Remove ${label}`}
          className="small schema-remove"
          onClick={() => onChange(required ? null : undefined)}
        />
      )}
      {hintOf(field) && <p className="field-hint">{hintOf(field)}</p>}
      {error}
      {there ? (
        children
      ) : (
        <Button icon="plus" className="small" onClick={add}>
          Add {label.toLowerCase()}
        </Button>
      )}
    </fieldset>
  );
}

export function ObjectGroup(props: PartProps<"object">) {
  const { field, pointer, draft, onChange, problems } = props;
  const object = (draft ?? {}) as DraftObject;
  const known = new Set(field.properties.map(({ name }) => name));
  const extra = Object.keys(object).filter((name) => !known.has(name));
  const drawn = draft === undefined || draft === null ? [] : [...known, ...extra];
  const { own, inner } = split(problems, pointer, drawn);
  const set = (name: string, value: Draft): void => onChange(withProperty(object, name, value, [...known]));
  return (
    <Frame {...props} own={messageOf(own, pointer)}>
      <div className="schema-fields">
        {field.properties.map(({ name, schema, required }) => (
          <FieldView
            key={name}
            schema={schema}
            pointer={`${pointer}/${escapePointer(name)}`}
            label={labelOf(schema, name)}
            required={required}
            draft={object[name]}
            onChange={(value) => set(name, value)}
            problems={inner.get(name) ?? []}
          />
        ))}
        {extra.map((name, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the name is being typed; the place is what stays
          <div className="schema-entry" key={index}>
            <NameField name={name} taken={object} onRename={(to) => onChange(renamed(object, name, to))} />
            <FieldView
              schema={field.rest === false ? true : field.rest}
              pointer={`${pointer}/${escapePointer(name)}`}
              label={`Value of ${name || "the entry"}`}
              required
              draft={object[name]}
              onChange={(value) => onChange(renamed({ ...object, [name]: value }, name, name))}
              problems={inner.get(name) ?? []}
            />
            <IconButton icon="close" label={`Remove ${name}`} className="small" onClick={() => set(name, undefined)} />
          </div>
        ))}
        {mayGrow(field.schema.additionalProperties, field.properties.length) && (
          <AddEntry rest={field.rest} object={object} onChange={onChange} />
        )}
      </div>
    </Frame>
  );
}

/** Objects that merely don't forbid more are not asked for more; those that describe it are. */
function mayGrow(rest: unknown, properties: number): boolean {
  return (typeof rest === "object" && rest !== null) || (properties === 0 && rest !== false);
}

function AddEntry({ rest, object, onChange }: { rest: Schema; object: DraftObject; onChange: (draft: Draft) => void }) {
  const form = useForm();
  const add = (): void => {
    let name = "name";
    for (let n = 2; Object.hasOwn(object, name); n++) name = `name${n}`;
    const first = addedDraft(rest, form.schema);
    onChange({ ...object, [name]: first === undefined ? "" : first });
  };
  return (
    <div>
      <Button icon="plus" className="small" onClick={add}>
        Add an entry
      </Button>
    </div>
  );
}

function NameField({ name, taken, onRename }: { name: string; taken: DraftObject; onRename: (to: string) => void }) {
  const [text, setText] = useState(name);
  const clash = text !== name && Object.hasOwn(taken, text);
  return (
    <div className="field">
      <span aria-hidden="true">Name</span>
      <input
        className="input"
        aria-label={`Name of entry ${name}`}
        aria-invalid={clash || undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          if (!Object.hasOwn(taken, event.target.value)) onRename(event.target.value);
        }}
      />
      {clash && <div className="field-error">This name is already used.</div>}
    </div>
  );
}

export function ListGroup(props: PartProps<"list">) {
  const { field, label, pointer, required, draft, onChange, problems } = props;
  const form = useForm();
  const list = (draft ?? []) as Draft[];
  const { own, inner } = split(problems, pointer, [...list.keys()]);
  const most = typeof field.schema.maxItems === "number" ? field.schema.maxItems : Number.POSITIVE_INFINITY;
  const least = field.first.length;
  const one = spoken(singular(label));
  const add = (): void => onChange([...list, addedDraft(field.items, form.schema)]);
  const remove = (index: number): void => {
    const rest = list.filter((_, at) => at !== index);
    onChange(rest.length === 0 && !required ? undefined : rest);
  };
  return (
    <Frame {...props} own={messageOf(own, pointer)}>
      <div className="schema-fields">
        {list.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the place in a list is what an item is known by
          <div className="schema-item" key={index}>
            <FieldView
              schema={field.first[index] ?? field.items}
              pointer={`${pointer}/${index}`}
              label={itemLabel(field, index, one)}
              required
              draft={item}
              onChange={(value) => onChange(list.map((old, at) => (at === index ? value : old)))}
              problems={inner.get(String(index)) ?? []}
            />
            {index >= least && (
              <IconButton
                icon="close"
                label={`Remove ${one} ${index + 1}`}
                className="small"
                onClick={() => remove(index)}
              />
            )}
          </div>
        ))}
        {field.items !== false && list.length < most && (
          <Button icon="plus" className="small" onClick={add}>
            Add {one.toLowerCase()}
          </Button>
        )}
      </div>
    </Frame>
  );
}

function itemLabel({ first, items }: Extract<Field, { kind: "list" }>, index: number, one: string): string {
  const own = first[index];
  return own === undefined ? `${labelOf(items, one)} ${index + 1}` : labelOf(own, `${one} ${index + 1}`);
}

function singular(label: string): string {
  return /[^s]s$/i.test(label) ? label.slice(0, -1) : label;
}

export function UnionGroup(props: PartProps<"union">) {
  const { field, label, pointer, draft, onChange, problems } = props;
  const form = useForm();
  const schemas = field.alternatives.map(({ schema }) => schema);
  const [chosen, setChosen] = useState(() => closestBranch(schemas, draft, form.schema));
  const schema = schemas[chosen] ?? true;
  const there = draft !== undefined && draft !== null;
  return (
    <Frame {...props} own={there ? undefined : messageOf(problems, pointer)}>
      <div className="schema-fields">
        <label className="schema-pick">
          <span className="visually-hidden">Kind of {label}</span>
          <select
            className="input"
            value={chosen}
            onChange={(event) => {
              const next = Number(event.target.value);
              setChosen(next);
              form.edit(pointer);
              onChange(addedDraft(schemas[next] ?? true, form.schema));
            }}
          >
            {field.alternatives.map((alternative, index) => (
              <option key={alternative.label} value={index}>
                {alternative.label}
              </option>
            ))}
          </select>
        </label>
        <FieldView
          key={chosen}
          schema={schema}
          pointer={pointer}
          label={field.alternatives[chosen]?.label ?? label}
          required
          bare
          draft={draft}
          onChange={onChange}
          problems={problems}
        />
      </div>
    </Frame>
  );
}
