/** Tags: names for a version, such as `stable`, that can be moved without changing the callers. */

import { useState } from "react";
import { api } from "../../api/client";
import type { Definition } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button, IconButton } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import type { CopyAction } from "../../components/copy";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { SelectField, TextField } from "../../components/Field";
import { allows, useMe } from "../../shell/me";
import { toast, toastProblem } from "../../shell/toasts";
import { versionKey, versionsOf } from "./versions";

interface Props {
  definition: Definition;
  onChange: (next: Definition) => void;
}

type Asked = { kind: "set"; tag: string } | { kind: "remove"; tag: string };

export function Tags({ definition, onChange }: Props) {
  const may = allows(useMe(), "editor");
  const [asked, setAsked] = useState<Asked>();
  const tags = Object.entries(definition.tags ?? {});
  const close = () => setAsked(undefined);
  return (
    <section className="stack tight" aria-labelledby="tags">
      <div className="row">
        <h2 id="tags">Tags</h2>
        {may && (
          <Button className="small" look="ghost" icon="plus" onClick={() => setAsked({ kind: "set", tag: "" })}>
            Set a tag
          </Button>
        )}
      </div>
      {tags.length === 0 && (
        <p className="muted">
          None. A tag such as <code>stable</code> names a version: runs are started as{" "}
          <code>{definition.name}@stable</code>.
        </p>
      )}
      <ul className="tags">
        {tags.map(([tag, version]) => (
          <Tag
            key={tag}
            tag={tag}
            version={version}
            onAsk={may ? setAsked : undefined}
            onStep={(step) => void stepTag(definition, tag, version, step).then(onChange, toastProblem)}
          />
        ))}
      </ul>
      {asked?.kind === "set" && <SetTag definition={definition} tag={asked.tag} onChange={onChange} onClose={close} />}
      {asked?.kind === "remove" && (
        <RemoveTag definition={definition} tag={asked.tag} onChange={onChange} onClose={close} />
      )}
    </section>
  );
}

interface TagProps {
  tag: string;
  version: string;
  /** Undefined: the caller may only look. */
  onAsk: ((asked: Asked) => void) | undefined;
  onStep: (step: Step) => void;
}

/** Back to where the tag was before its last move, or forward again. */
type Step = "undo" | "redo";

function stepTag(definition: Definition, tag: string, expected: string, step: Step): Promise<Definition> {
  return api.post<Definition>(`${tagPath(definition, tag)}/${step}`, { expected });
}

function Tag({ tag, version, onAsk, onStep }: TagProps) {
  return (
    <li className="tag">
      <strong>{tag}</strong>
      <span className="mono faint">{version.slice(0, 16)}</span>
      {onAsk && (
        <>
          <IconButton
            className="small"
            icon="undo"
            label={`Undo the last move of ${tag}`}
            onClick={() => onStep("undo")}
          />
          <IconButton
            className="small"
            icon="redo"
            label={`Redo the last move of ${tag}`}
            onClick={() => onStep("redo")}
          />
          <Button className="small" look="ghost" onClick={() => onAsk({ kind: "set", tag })} aria-label={`Move ${tag}`}>
            Move
          </Button>
          <IconButton
            className="small"
            icon="close"
            label={`Remove ${tag}`}
            onClick={() => onAsk({ kind: "remove", tag })}
          />
        </>
      )}
    </li>
  );
}

function tagPath({ name }: Definition, tag: string): string {
  return `/definitions/${encodeURIComponent(name)}/tags/${encodeURIComponent(tag)}`;
}

interface DialogProps extends Props {
  tag: string;
  onClose: () => void;
}

function SetTag({ definition, tag: old, onChange, onClose }: DialogProps) {
  const versions = versionsOf(definition);
  const keys = versions.map((version) => versionKey(version, versions));
  const [tag, setTag] = useState(old);
  const [version, setVersion] = useState(definition.tags?.[old] ?? keys[0] ?? "");
  const known = keys.includes(version) ? keys : [version, ...keys];
  const { busy, error, run } = useChange(onChange, onClose, `${tag} is ${version}`);
  return (
    <Dialog
      title={old ? `Move ${old}` : "Set a tag"}
      onClose={onClose}
      onSubmit={() =>
        run(() => api.put<Definition>(tagPath(definition, tag), { version, expected: definition.tags?.[tag] }))
      }
      footer={
        <Foot
          action={{ method: "PUT", path: tagPath(definition, tag || "TAG"), body: { version } }}
          onClose={onClose}
          word={old ? "Move" : "Set"}
          busy={busy}
        />
      }
    >
      {!old && (
        <TextField
          label="Tag"
          hint="An existing tag is moved."
          placeholder="stable"
          required
          value={tag}
          onChange={(event) => setTag(event.target.value)}
        />
      )}
      <SelectField label="Version" value={version} onChange={(event) => setVersion(event.target.value)}>
        {known.map((key) => (
          <option key={key}>{key}</option>
        ))}
      </SelectField>
      <p className="muted">
        New runs of {`${definition.name}@${tag || "…"}`} start with this version; existing runs keep theirs.
      </p>
      {error && <ErrorBox error={error} title="Could not set the tag" />}
    </Dialog>
  );
}

function RemoveTag({ definition, tag, onChange, onClose }: DialogProps) {
  const { busy, error, run } = useChange(onChange, onClose, `Removed ${tag}`);
  return (
    <Dialog
      title={`Remove ${tag}?`}
      onClose={onClose}
      onSubmit={() => run(() => api.delete<Definition>(tagPath(definition, tag)))}
      footer={
        <Foot
          action={{ method: "DELETE", path: tagPath(definition, tag) }}
          onClose={onClose}
          word="Remove"
          busy={busy}
          danger
        />
      }
    >
      <p>
        Starting runs of <code>{`${definition.name}@${tag}`}</code> will fail from then on.
      </p>
      {error && <ErrorBox error={error} title="Could not remove the tag" />}
    </Dialog>
  );
}

interface FootProps {
  action: CopyAction;
  onClose: () => void;
  word: string;
  busy: boolean;
  danger?: boolean;
}

function Foot({ action, onClose, word, busy, danger = false }: FootProps) {
  return (
    <>
      <CopyAs up action={action} />
      <span className="grow" />
      <Button onClick={onClose}>Cancel</Button>
      <Button type="submit" look={danger ? "danger" : "primary"} busy={busy}>
        {word}
      </Button>
    </>
  );
}

/** Sends a change, takes the definition it answers with, and closes. */
function useChange(onChange: (next: Definition) => void, onClose: () => void, done: string) {
  const { busy, error, send } = useRequest();
  const change = async (call: () => Promise<Definition>) => {
    onChange(await call());
    toast({ kind: "ok", text: done });
    onClose();
  };
  return { busy, error, run: (call: () => Promise<Definition>) => send(() => change(call)) };
}
