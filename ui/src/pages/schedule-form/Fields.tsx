/** The fields of a schedule: what it starts, and when. */

import { useId, useMemo } from "react";
import { Field, SelectField, TextArea, TextField } from "../../components/Field";
import type { Draft, Wrong } from "./draft";

interface Props {
  draft: Draft;
  onChange: (draft: Draft) => void;
  wrong: Wrong;
}

type Changed = { target: { value: string } };

export function RunFields({
  draft,
  onChange,
  wrong,
  definitions,
  fixed,
}: Props & { definitions: string[]; fixed: boolean }) {
  const list = useId();
  const inline = typeof draft.definition !== "string";
  const set = (name: keyof Draft) => (event: Changed) => onChange({ ...draft, [name]: event.target.value });
  return (
    <fieldset className="form-part">
      <legend>Run</legend>
      <TextField
        label="Name"
        hint="Part of its runs' IDs: nightly:2026-11-18T02:30:00Z"
        error={wrong.name}
        maxLength={100}
        readOnly={fixed}
        value={draft.name}
        onChange={set("name")}
      />
      <TextField
        label="Definition"
        hint={
          inline
            ? "The definition itself stands in the schedule, and is kept as it is."
            : "A name, name@version or name@tag"
        }
        error={wrong.definition}
        list={list}
        readOnly={inline}
        value={typeof draft.definition === "string" ? draft.definition : JSON.stringify(draft.definition)}
        // Another name may be of another dialect: the server finds out
        onChange={(event) => onChange({ ...draft, definition: event.target.value, dialect: undefined })}
      />
      <datalist id={list}>
        {definitions.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div className="form-whole">
        <TextArea label="Input (JSON)" rows={4} error={wrong.input} value={draft.input} onChange={set("input")} />
      </div>
      <TextField
        label="Labels"
        hint="key:value, separated by spaces"
        placeholder="team:checkout"
        error={wrong.labels}
        value={draft.labels}
        onChange={set("labels")}
      />
      <TextField
        label="Deadline"
        hint="A run fails if it takes longer."
        placeholder="2 h"
        error={wrong.deadline}
        value={draft.deadline}
        onChange={set("deadline")}
      />
      <TextField
        label="Queue"
        hint="Its runs wait there for a slot. None if left empty."
        value={draft.queue}
        onChange={set("queue")}
      />
      <TextField
        label="Priority"
        hint="On the queue: lower starts first."
        error={wrong.priority}
        value={draft.priority}
        onChange={set("priority")}
      />
      <TextField
        label="Partition"
        hint="The key on partitioned queues."
        value={draft.partition}
        onChange={set("partition")}
      />
    </fieldset>
  );
}

const KINDS = [
  ["cron", "Cron"],
  ["every", "Interval"],
] as const;

export function TimingFields({ draft, onChange, wrong }: Props) {
  const set = (name: keyof Draft) => (event: Changed) => onChange({ ...draft, [name]: event.target.value });
  return (
    <fieldset className="form-part">
      <legend>Time</legend>
      <SelectField
        label="By"
        value={draft.by}
        onChange={(event) => onChange({ ...draft, by: event.target.value === "every" ? "every" : "cron" })}
      >
        {KINDS.map(([kind, words]) => (
          <option key={kind} value={kind}>
            {words}
          </option>
        ))}
      </SelectField>
      {draft.by === "cron" ? (
        <TextField
          label="Cron"
          className="input mono"
          hint="minute, hour, day of month, month, day of week"
          error={wrong.cron}
          value={draft.cron}
          onChange={set("cron")}
        />
      ) : (
        <TextField
          label="Every"
          hint="90 s, 15 min, 2 h or 3 d, counted from 1970-01-01 UTC"
          error={wrong.every}
          value={draft.every}
          onChange={set("every")}
        />
      )}
      <ZoneField value={draft.tz} onChange={set("tz")} shown={draft.by === "cron"} />
      <SelectField label="If the run before has not ended" value={draft.overlap} onChange={set("overlap")}>
        <option value="skip">skip: leave this time out</option>
        <option value="queue">queue: start after it</option>
        <option value="allow">allow: start beside it</option>
        <option value="cancel_previous">cancel previous: cancel it, then start</option>
      </SelectField>
      <TextField
        label="Catch-up"
        hint="How late a time that was missed still starts a run"
        error={wrong.catchup}
        value={draft.catchup}
        onChange={set("catchup")}
      />
    </fieldset>
  );
}

function ZoneField({ value, onChange, shown }: { value: string; onChange: (event: Changed) => void; shown: boolean }) {
  const list = useId();
  const zones = useMemo(() => ["UTC", ...Intl.supportedValuesOf("timeZone")], []);
  if (!shown) return null;
  return (
    <Field label="Time zone" hint="Such as Europe/Berlin">
      {(wired) => (
        <>
          <input
            className="input"
            type="text"
            autoComplete="off"
            spellCheck={false}
            list={list}
            value={value}
            onChange={onChange}
            {...wired}
          />
          <datalist id={list}>
            {zones.map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
