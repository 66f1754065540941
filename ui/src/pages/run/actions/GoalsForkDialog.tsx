/** A fork of a run of goals: the same past up to a place, with other values of attributes if one likes. */

import { useState } from "react";
import type { AttributeValue } from "../../../api/goals";
import type { Json, Node, Started } from "../../../api/types";
import { CheckField, SelectField, TextArea, TextField } from "../../../parts/Field";
import { navigate } from "../../../shell/router";
import { ActionForm, type ActionProps } from "./ActionDialog";
import { type Asked, forking } from "./describe";
import { parsed } from "./parsed";

type Attributes = { [name: string]: Json };
type ForkAsked = Extract<Asked, { action: "fork" }>;

export function GoalsForkDialog({ asked, ...props }: ActionProps & { asked: ForkAsked }) {
  const { run, view } = props.detail;
  const begun = view.nodes.filter(canFork);
  const [place, setPlace] = useState(() => String(asked.at ?? placeOf(begun)));
  // Undefined while what is typed is no value.
  const [attributes, setAttributes] = useState<Attributes | undefined>({});
  const [id, setId] = useState("");
  const fixed = typeof asked.at === "number" ? asked.at : undefined;
  const ready = attributes !== undefined && place !== "";
  return (
    <ActionForm<Started>
      {...props}
      title="Fork this run"
      action={
        ready ? forking(run, { at: fixed ?? place, edits: {}, attributes, id: id.trim() || undefined }) : undefined
      }
      confirm="Fork"
      done={(made) => `Forked as ${made.id}`}
      then={(made) => navigate(`/runs/${encodeURIComponent(made.id)}`)}
    >
      <p className="muted">A new run with the same plan and the same past. This one stays as it is.</p>
      {fixed !== undefined ? (
        <p>
          The past is shared up to <strong>event {fixed}</strong>.
        </p>
      ) : (
        <SelectField
          label="Do again, with all after it"
          value={place}
          onChange={(event) => setPlace(event.target.value)}
        >
          {begun.map((node) => (
            <option key={node.id} value={node.id}>
              {node.id} ({node.status})
            </option>
          ))}
        </SelectField>
      )}
      <AnotherValue values={view.details?.attributes ?? {}} onChange={setAttributes} />
      <TextField
        label="Id of the new run"
        placeholder="made by the engine"
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
    </ActionForm>
  );
}

interface AnotherValueProps {
  values: { [name: string]: AttributeValue[] };
  onChange: (attributes: Attributes | undefined) => void;
}

function AnotherValue({ values, onChange }: AnotherValueProps) {
  const names = Object.keys(values).sort();
  const [name, setName] = useState<string>();
  const [text, setText] = useState("");
  const value = parsed(text);
  const change = (next: string | undefined, typed: string) => {
    setName(next);
    setText(typed);
    const read = parsed(typed);
    onChange(next === undefined ? {} : read.ok ? { [next]: read.value } : undefined);
  };
  const choose = (next: string | undefined) =>
    change(next, JSON.stringify(values[next ?? ""]?.[0]?.value ?? null, null, 2));
  return (
    <>
      <CheckField
        label="Give an attribute another value"
        hint="The steps that are done again get it."
        checked={name !== undefined}
        onChange={(event) => choose(event.target.checked ? names[0] : undefined)}
      />
      {name !== undefined && (
        <>
          <SelectField label="Attribute" value={name} onChange={(event) => choose(event.target.value)}>
            {names.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </SelectField>
          <TextArea
            label="Its value, as JSON"
            rows={6}
            value={text}
            error={value.ok ? undefined : value.error}
            onChange={(event) => change(name, event.target.value)}
          />
        </>
      )}
    </>
  );
}

/** Only what has begun has a place in the past. */
export function canFork({ kind, started_at, status }: Node): boolean {
  return kind !== "init" && started_at !== undefined && status !== "skipped";
}

function placeOf(begun: readonly Node[]): string {
  return (begun.find((node) => node.status === "failed") ?? begun.at(-1))?.id ?? "";
}
