/** A fork: a new run with the same past up to a place, perhaps with other results. */

import { useEffect, useState } from "react";
import { api } from "../../../api/client";
import type { Json, Node, RunDetail, Started } from "../../../api/types";
import { CheckField, SelectField, TextArea, TextField } from "../../../parts/Field";
import { navigate } from "../../../shell/router";
import { runPath } from "../use-run";
import { ActionForm, type ActionProps } from "./ActionDialog";
import { closingEvent } from "./closing";
import { type Asked, forking } from "./describe";
import { parsed } from "./parsed";

type ForkAsked = Extract<Asked, { action: "fork" }>;

export function ForkDialog({ asked, ...props }: ActionProps & { asked: ForkAsked }) {
  const { run, view, seq } = props.detail;
  const [place, setPlace] = useState<string>(() => String(asked.at ?? startingPlace(view.nodes)));
  const [editing, setEditing] = useState(false);
  const [edited, setEdited] = useState<Node | undefined>(asked.node);
  const [text, setText] = useState(() => JSON.stringify(asked.node?.output ?? null, null, 2));
  const [id, setId] = useState("");
  const fixed = typeof asked.at === "number" ? asked.at : undefined;
  // A node keeps its place in the new run's past, with the new output, only if the cut is right after it.
  const closing = useClosing(run.id, seq, editing && fixed === undefined ? edited : undefined);

  const value = parsed(text);
  const edits: { [node: string]: Json } = editing && edited && value.ok ? { [edited.id]: value.value } : {};
  const at = fixed ?? (editing ? closing : place || undefined);
  const ready = (!editing || (value.ok && edited && at !== undefined)) && (fixed !== undefined || editing || place);
  const action = ready ? forking(run, { at, edits, id: id.trim() || undefined }) : undefined;
  const ended = view.nodes.filter((node) => node.status === "completed");
  return (
    <ActionForm<Started>
      {...props}
      title="Fork this run"
      action={action}
      confirm="Fork"
      done={(made) => `Forked as ${made.id}`}
      then={(made) => navigate(`/runs/${encodeURIComponent(made.id)}`)}
    >
      <p className="muted">A new run with the same past. This one stays as it is.</p>
      {fixed !== undefined && (
        <p>
          The past is shared up to <strong>event {fixed}</strong>.
        </p>
      )}
      {fixed === undefined && !editing && (
        <SelectField
          label="Do again, with all after it"
          value={place}
          onChange={(event) => setPlace(event.target.value)}
        >
          {view.nodes.map((node) => (
            <option key={node.id} value={node.id}>
              {node.id} ({node.status})
            </option>
          ))}
        </SelectField>
      )}
      {ended.length > 0 && (
        <CheckField
          label="Give a finished node another output"
          hint={fixed === undefined ? "The new run goes on right after that node." : undefined}
          checked={editing}
          onChange={(event) => {
            setEditing(event.target.checked);
            if (!edited) choose(ended.at(-1)?.id);
          }}
        />
      )}
      {editing && (
        <>
          <SelectField label="Node" value={edited?.id ?? ""} onChange={(event) => choose(event.target.value)}>
            {ended.map((node) => (
              <option key={node.id}>{node.id}</option>
            ))}
          </SelectField>
          <TextArea
            label="Its output, as JSON"
            rows={8}
            value={text}
            error={value.ok ? undefined : value.error}
            onChange={(event) => setText(event.target.value)}
          />
        </>
      )}
      <TextField
        label="Id of the new run"
        placeholder="made by the engine"
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
    </ActionForm>
  );

  function choose(nodeId: string | undefined) {
    const node = view.nodes.find((one) => one.id === nodeId);
    setEdited(node);
    setText(JSON.stringify(node?.output ?? null, null, 2));
  }
}

/** What people most often want to do again: what failed, else the last thing that began. */
function startingPlace(nodes: readonly Node[]): string {
  const failed = nodes.find((node) => node.status === "failed");
  return (failed ?? nodes.at(-1))?.id ?? "";
}

function useClosing(id: string, last: number, node: Node | undefined): number | undefined {
  const [found, setFound] = useState<{ node: string; seq: number }>();
  const wanted = node?.id;
  useEffect(() => {
    if (wanted === undefined) return;
    let current = true;
    const look = async (at: number) => (await api.get<RunDetail>(runPath(id, `?at=${at}`))).view.nodes;
    closingEvent(wanted, last, look)
      .then((seq) => current && setFound({ node: wanted, seq }))
      .catch(() => current && setFound(undefined));
    return () => {
      current = false;
    };
  }, [id, last, wanted]);
  return found?.node === wanted ? found?.seq : undefined;
}
