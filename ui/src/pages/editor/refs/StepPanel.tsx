/** The selected step: its name, what it does, what it is given, and when it runs. */

import { useRef, useState } from "react";
import type { Json } from "../../../api/types";
import { Button, IconButton } from "../../../components/Button";
import { SelectField, TextField } from "../../../components/Field";
import { equal } from "../../../components/JsonDiffModel";
import { fieldsOf, listOf, textOf } from "../graph/source";
import { below, type Problem } from "../problems";
import { ActionForm } from "./ActionForm";
import { RefText } from "./RefText";
import { downstreamOf, type Kind, type Step, stepsOf } from "./source";
import { WhenForm } from "./WhenForm";

export interface StepPanelProps {
  document: Json;
  step: Step;
  refs: readonly string[];
  problems: Problem[];
  onField: (field: string, value: Json | undefined, mark?: string) => void;
  onKind: (kind: Kind) => void;
  onRename: (to: string) => void;
  onRemove: () => void;
  onClose: () => void;
}

export function StepPanel(props: StepPanelProps) {
  const { step, refs, onField, onKind, onRemove, onClose } = props;
  const { name, fields } = step;
  return (
    <aside className="ed-panel" aria-label={`Step ${name}`}>
      <header className="ed-panel-head">
        <h2 className="clip grow">{name}</h2>
        <IconButton icon="trash" label={`Delete ${name} (Delete)`} onClick={onRemove} />
        <IconButton icon="close" label="Close the step" onClick={onClose} />
      </header>
      {below(props.problems, `/steps/${step.index}`).map(({ message }) => (
        <p key={message} className="field-error" role="alert">
          {message}
        </p>
      ))}
      <NameField {...props} />
      <TextField
        label="Description"
        value={textOf(fields.description) ?? ""}
        onChange={(event) => onField("description", event.target.value || undefined, `description ${name}`)}
      />
      <ActionForm step={step} onKind={onKind} onAction={(action, mark) => onField("action", action, mark)} />
      <InputField {...props} />
      {fields.when === undefined ? null : (
        <WhenForm condition={fields.when} refs={refs} onChange={(when) => onField("when", when, `when ${name}`)} />
      )}
      {fields.forEach === undefined ? null : <ForEach {...props} />}
      <div className="row wrap">
        {fields.when === undefined && (
          <Button className="small" icon="plus" onClick={() => onField("when", { ref: "@input" })}>
            Condition
          </Button>
        )}
        {fields.forEach === undefined && step.kind !== "return" && (
          <Button className="small" icon="plus" onClick={() => onField("forEach", { ref: "@input" })}>
            For each item
          </Button>
        )}
      </div>
      <After {...props} />
      {step.kind !== "return" && <Trying {...props} />}
    </aside>
  );
}

/** Renamed when it is left: each letter of a new name would be another step. */
function NameField({ document, step: { name }, onRename }: StepPanelProps) {
  const [text, setText] = useState(name);
  const taken = text !== name && stepsOf(document).some((one) => one.name === text);
  const bad = !/^[A-Za-z_](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?$/.test(text);
  const error = taken
    ? "Another step has this name."
    : bad
      ? "Letters, digits, _ and -; begins with a letter or _."
      : undefined;
  const done = () => (error === undefined ? text !== name && onRename(text) : setText(name));
  return (
    <TextField
      label="Name"
      hint="References to it are changed, too."
      error={error}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={done}
      onKeyDown={(event) => event.key === "Enter" && done()}
    />
  );
}

/** JSON that is kept as it is typed for as long as it is none. */
function InputField({ step: { name, fields }, refs, onField }: StepPanelProps) {
  const value: Json = fields.input ?? {};
  const seen = useRef<Json>(value);
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [error, setError] = useState<string>();
  if (!equal(seen.current, value)) {
    seen.current = value; // undone, or edited elsewhere
    setText(JSON.stringify(value, null, 2));
    setError(undefined);
  }
  const change = (next: string) => {
    setText(next);
    try {
      const parsed = JSON.parse(next) as Json;
      seen.current = parsed;
      setError(undefined);
      onField("input", parsed, `input ${name}`);
    } catch (thrown) {
      setError(`Invalid JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  };
  return (
    <RefText
      label="Input (JSON)"
      hint='Type @ for values of the input and of earlier steps, as in {"id": "@user.id"}'
      error={error}
      value={text}
      onChange={change}
      refs={refs}
    />
  );
}

function ForEach({ step: { name, fields }, refs, onField }: StepPanelProps) {
  const { ref, concurrency } = fieldsOf(fields.forEach);
  const set = (part: { [field: string]: Json }) =>
    onField("forEach", { ...fieldsOf(fields.forEach), ...part }, `forEach ${name}`);
  return (
    <section className="step-part" aria-label="For each item">
      <header className="row">
        <h3 className="grow">Once for each item</h3>
        <IconButton
          icon="close"
          className="small"
          label="Remove the iteration"
          onClick={() => onField("forEach", undefined)}
        />
      </header>
      <RefText
        single
        label="Items of"
        hint="A list; the input may use @item and @index"
        value={textOf(ref) ?? ""}
        onChange={(next) => set({ ref: next })}
        refs={refs.filter((one) => one !== "item" && one !== "index")}
      />
      <TextField
        label="At once"
        type="number"
        min={1}
        max={100}
        hint="1 to 100 at a time"
        value={typeof concurrency === "number" ? concurrency : 1}
        onChange={(event) => set({ concurrency: Number(event.target.value) })}
      />
    </section>
  );
}

/** Order without data. */
function After({ document, step, onField }: StepPanelProps) {
  const after = downstreamOf(document, step.name);
  const chosen = new Set(listOf(step.fields.dependsOn).map(String));
  const others = stepsOf(document).filter(({ name }) => !after.has(name) || chosen.has(name));
  if (others.length === 0) return null;
  const toggle = (name: string) => {
    const next = chosen.has(name) ? [...chosen].filter((one) => one !== name) : [...chosen, name];
    onField("dependsOn", next.length === 0 ? undefined : next);
  };
  return (
    <fieldset className="step-after">
      <legend>Also wait for</legend>
      {others.map(({ name }) => (
        <label key={name} className="chip">
          <input type="checkbox" checked={chosen.has(name)} onChange={() => toggle(name)} /> {name}
        </label>
      ))}
    </fieldset>
  );
}

function Trying({ step: { name, fields }, onField }: StepPanelProps) {
  const config = fieldsOf(fields.config);
  const set = (field: string, value: Json | undefined) => {
    const { [field]: _, ...rest } = config;
    const next = value === undefined ? rest : { ...config, [field]: value };
    onField("config", Object.keys(next).length === 0 ? undefined : next, `${field} ${name}`);
  };
  const number = (field: string) => (event: { target: { value: string } }) =>
    set(field, event.target.value === "" ? undefined : Number(event.target.value));
  const shown = (field: string) => (typeof config[field] === "number" ? String(config[field]) : "");
  return (
    <div className="step-tries">
      <TextField
        label="Attempts"
        type="number"
        min={1}
        max={10}
        placeholder="1"
        value={shown("maxAttempts")}
        onChange={number("maxAttempts")}
      />
      <TextField
        label="Timeout, ms"
        type="number"
        min={100}
        value={shown("timeoutMs")}
        onChange={number("timeoutMs")}
      />
      <SelectField
        label="If it fails"
        value={textOf(config.onError) ?? ""}
        onChange={(event) => set("onError", event.target.value || undefined)}
      >
        <option value="">{fields.forEach === undefined ? "The run fails" : "The others continue"}</option>
        <option value="fail">The run fails</option>
        <option value="continue">Continue without it</option>
      </SelectField>
    </div>
  );
}
