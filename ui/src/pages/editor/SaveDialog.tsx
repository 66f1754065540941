/** The last look before saving: what changes, under which name, and why. */

import { useState } from "react";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import type { CopyAction } from "../../components/copy";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { CheckField, TextField } from "../../components/Field";
import { JsonDiff } from "../../components/JsonDiff";
import { definitionPath } from "../definitions/versions";
import { isStale, type Loaded, type Saving, type Source } from "./documents";
import type { Document } from "./use-document";

type Named = Pick<Saving, "name" | "description" | "breaking">;

interface Props {
  source: Source;
  document: Document;
  onClose: () => void;
  onSaved: (saved: Loaded, name: string) => void;
  /** Somebody else was faster: what they have saved. */
  onStale: (theirs: Loaded) => void;
}

export function SaveDialog({ source, document, onClose, onSaved, onStale }: Props) {
  const [saving, setSaving] = useState<Named>({ name: source.name ?? "", description: "", breaking: false });
  const { busy, error, send } = useRequest();
  const { value, base, operations } = document;
  const submit = () =>
    send(
      async () => onSaved(await source.save({ value, base, operations, ...saving }), saving.name),
      (problem) => {
        if (isStale(problem)) void source.load().then(onStale);
      },
    );
  const copied = copyOf(source, document, saving);
  return (
    <Dialog
      wide
      title={TITLES[source.kind]}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          {copied && <CopyAs up action={copied} />}
          <span className="grow" />
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look="primary" busy={busy}>
            {source.kind === "run" ? "Patch the run" : "Save"}
          </Button>
        </>
      }
    >
      <Fields kind={source.kind} saving={saving} onChange={setSaving} />
      {source.kind !== "new" && <JsonDiff a={base.value} b={value} />}
      {error && !isStale(error) && <ErrorBox error={error} title={source.kind === "run" ? "Refused" : "Not saved"} />}
    </Dialog>
  );
}

interface FieldsProps {
  kind: Source["kind"];
  saving: Named;
  onChange: (saving: Named) => void;
}

function Fields({ kind, saving, onChange }: FieldsProps) {
  return (
    <>
      {kind === "new" && (
        <TextField
          label="Name"
          hint="The name to start runs by."
          required
          placeholder="orders"
          value={saving.name}
          onChange={(event) => onChange({ ...saving, name: event.target.value })}
        />
      )}
      {kind === "definition" && (
        <>
          <TextField
            label="Description"
            hint="What changed. Optional."
            maxLength={1000}
            value={saving.description}
            onChange={(event) => onChange({ ...saving, description: event.target.value })}
          />
          <CheckField
            label="Breaking change"
            hint="The new version gets the next major number."
            checked={saving.breaking}
            onChange={(event) => onChange({ ...saving, breaking: event.target.checked })}
          />
        </>
      )}
      {kind === "run" && (
        <p className="muted">
          Only this run changes, from where its tokens are now. Nothing that has run is run again.
        </p>
      )}
    </>
  );
}

const TITLES: { [kind in Source["kind"]]: string } = {
  new: "Save the new definition",
  definition: "Save a new version",
  run: "Patch this run",
};

function copyOf(
  { kind, name }: Source,
  { operations, base }: Document,
  { description, breaking }: Named,
): CopyAction | undefined {
  if (name === undefined) return undefined;
  if (kind === "run") {
    const body = { operations, base_revision: Number(base.at) };
    return { method: "POST", path: `/runs/${encodeURIComponent(name)}/patch`, body };
  }
  const more = { description: description || undefined, breaking: breaking || undefined };
  return { method: "POST", path: `${definitionPath(name)}/patch`, body: { operations, expected: base.at, ...more } };
}
