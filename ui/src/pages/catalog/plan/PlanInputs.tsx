/** What is given: a field for each gap of the plan, and for whatever one adds. */

import { type FormEvent, useId, useState } from "react";
import type { GoalsPlan } from "../../../api/goals";
import { Button, IconButton } from "../../../components/Button";
import { type CatalogIndex, typeOf } from "../catalog-index";
import { fieldId, type Given } from "./plan-query";

interface PlanInputsProps {
  catalog: CatalogIndex;
  plan: GoalsPlan | undefined;
  given: readonly Given[];
  problems: { [name: string]: string };
  onChange: (given: Given[]) => void;
}

export function PlanInputs({ catalog, plan, given, problems, onChange }: PlanInputsProps) {
  const required = plan?.required ?? [];
  const typed = new Set(given.map(({ name }) => name));
  const fields = [...given, ...required.filter((name) => !typed.has(name)).map((name) => ({ name, text: "" }))];
  const set = (name: string, text: string) =>
    onChange(
      typed.has(name) ? given.map((one) => (one.name === name ? { name, text } : one)) : [...given, { name, text }],
    );
  return (
    <section className="stack tight" aria-label="Inputs">
      <h2>Inputs</h2>
      {fields.length === 0 && <p className="muted">No inputs needed.</p>}
      {fields.map(({ name, text }) => (
        <InputField
          key={name}
          name={name}
          text={text}
          type={typeOf(catalog, name)}
          error={problems[name] ?? (required.includes(name) ? "Required" : undefined)}
          onText={(next) => set(name, next)}
          onRemove={typed.has(name) ? () => onChange(given.filter((one) => one.name !== name)) : undefined}
        />
      ))}
      <AddInput
        names={suggested(plan).filter((name) => !typed.has(name) && !required.includes(name))}
        onAdd={(name) => !typed.has(name) && onChange([...given, { name, text: "" }])}
      />
    </section>
  );
}

/** What the plan's steps take, and what they would give: a value that is given need not be made. */
function suggested(plan: GoalsPlan | undefined): string[] {
  return Object.keys(plan?.attributes ?? {}).sort();
}

interface InputFieldProps {
  name: string;
  text: string;
  type: string;
  error?: string;
  onText: (text: string) => void;
  onRemove?: () => void;
}

function InputField({ name, text, type, error, onText, onRemove }: InputFieldProps) {
  const id = fieldId(name);
  const long = text.includes("\n") || text.length > 60;
  const shared = {
    id,
    className: "input mono",
    value: text,
    placeholder: type === "string" ? "text" : type === "any" ? "JSON" : `${type} (JSON)`,
    spellCheck: false,
    autoComplete: "off",
    "aria-invalid": error ? true : undefined,
    "aria-describedby": error ? `${id}-note` : undefined,
  };
  return (
    <div className="field plan-input">
      <div className="row">
        <label htmlFor={id} className="mono">
          {name}
        </label>
        <span className="faint">{type}</span>
        <span className="grow" />
        {onRemove && <IconButton icon="close" className="small" label={`Remove ${name}`} onClick={onRemove} />}
      </div>
      {type === "object" || type === "array" || long ? (
        <textarea rows={long ? 5 : 2} {...shared} onChange={(event) => onText(event.target.value)} />
      ) : (
        <input type="text" {...shared} onChange={(event) => onText(event.target.value)} />
      )}
      {error && (
        <div id={`${id}-note`} className="field-error">
          {error}
        </div>
      )}
    </div>
  );
}

function AddInput({ names, onAdd }: { names: string[]; onAdd: (name: string) => void }) {
  const [name, setName] = useState("");
  const list = useId();
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (!name.trim()) return;
    onAdd(name.trim());
    setName("");
    const id = fieldId(name.trim());
    // Once the field is there.
    window.setTimeout(() => document.getElementById(id)?.focus());
  };
  return (
    <form className="row" onSubmit={add}>
      <input
        type="text"
        className="input mono"
        aria-label="Name of the new input"
        placeholder="Add an input"
        list={list}
        spellCheck={false}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <datalist id={list}>
        {names.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <Button type="submit" icon="plus" disabled={!name.trim()}>
        Add
      </Button>
    </form>
  );
}
