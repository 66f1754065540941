/** The condition of a step: what is looked at, how, and with what it is compared. */

import type { Json } from "../../../api/types";
import { IconButton } from "../../../components/Button";
import { SelectField, TextField } from "../../../components/Field";
import { OPERATORS, type Operator, readWhen, takesValue, writeWhen } from "./condition";
import { RefText } from "./RefText";

interface Props {
  condition: Json;
  refs: readonly string[];
  onChange: (condition: Json | undefined) => void;
}

export function WhenForm({ condition, refs, onChange }: Props) {
  const when = readWhen(condition);
  const change = (part: Partial<typeof when>) => onChange(writeWhen({ ...when, ...part }));
  return (
    <section className="step-part" aria-label="Condition">
      <header className="row">
        <h3 className="grow">Run only if</h3>
        <IconButton icon="close" className="small" label="Remove the condition" onClick={() => onChange(undefined)} />
      </header>
      <div className="when-fields">
        <RefText
          single
          label="Value of"
          hint="The input or an earlier step, such as @user.active"
          error={when.ref.startsWith("@") ? undefined : "Begins with @."}
          value={when.ref}
          onChange={(ref) => change({ ref })}
          refs={refs}
        />
        <SelectField
          label="Operator"
          value={when.operator}
          onChange={(event) => change({ operator: event.target.value as Operator })}
        >
          {OPERATORS.map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </SelectField>
        {takesValue(when.operator) && (
          <TextField
            label="Value"
            hint={
              when.operator === "in" ? "Separated by commas, or a JSON list" : "Text, or JSON such as 7, true, null"
            }
            value={when.value}
            onChange={(event) => change({ value: event.target.value })}
          />
        )}
      </div>
    </section>
  );
}
