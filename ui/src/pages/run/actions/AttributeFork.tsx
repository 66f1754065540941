/** A fork of a run that has attributes: one of them may get another value. */

import { useState } from "react";
import type { Json } from "../../../api/types";
import { CheckField, SelectField, TextArea } from "../../../components/Field";
import { parseJson } from "../../../components/parse-json";
import type { AttributeValues } from "../details/details";
import type { ActionProps } from "./ActionForm";
import { type ForkAsked, ForkForm } from "./ForkForm";

type Attributes = { [name: string]: Json };

export function AttributeFork(props: ActionProps & { asked: ForkAsked; values: AttributeValues }) {
  // Undefined while what is typed is no value.
  const [attributes, setAttributes] = useState<Attributes | undefined>({});
  return (
    <ForkForm {...props} edits={attributes && { edits: {}, attributes }}>
      <AnotherValue values={props.values} onChange={setAttributes} />
    </ForkForm>
  );
}

interface AnotherValueProps {
  values: AttributeValues;
  onChange: (attributes: Attributes | undefined) => void;
}

function AnotherValue({ values, onChange }: AnotherValueProps) {
  const names = Object.keys(values).sort();
  const [name, setName] = useState<string>();
  const [text, setText] = useState("");
  const value = parseJson(text);
  const change = (next: string | undefined, typed: string) => {
    setName(next);
    setText(typed);
    const read = parseJson(typed);
    onChange(next === undefined ? {} : read.ok ? { [next]: read.value } : undefined);
  };
  const choose = (next: string | undefined) =>
    change(next, JSON.stringify(values[next ?? ""]?.[0]?.value ?? null, null, 2));
  return (
    <>
      <CheckField
        label="Change the value of an attribute"
        hint="Re-run steps use the new value."
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
            label="Value (JSON)"
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
