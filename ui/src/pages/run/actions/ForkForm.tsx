/** What every fork asks for: where the new run starts, its id, and what the caller adds in between. */

import { type ReactNode, useState } from "react";
import type { Node, Started } from "../../../api/types";
import { SelectField, TextField } from "../../../components/Field";
import { STATUS_WORDS } from "../../../components/Status";
import { navigate } from "../../../shell/router";
import { placeOf } from "../distinct-names";
import { ActionForm, type ActionProps } from "./ActionForm";
import { type Asked, type Fork, forkRequest } from "./requests";

export type ForkAsked = Extract<Asked, { action: "fork" }>;
type Edits = Pick<Fork, "edits" | "attributes">;

interface Props extends ActionProps {
  asked: ForkAsked;
  /** Where it starts because of what is edited, `null` while that is not known yet; absent: the person chooses. */
  at?: number | null;
  /** Undefined while what is typed is no value. */
  edits: Edits | undefined;
  children: ReactNode;
}

export function ForkForm({ asked, at, edits, children, ...props }: Props) {
  const { run, view } = props.detail;
  const [node, setNode] = useState(() => (typeof asked.at === "string" ? asked.at : usualNode(view.nodes)));
  const [id, setId] = useState("");
  const fixed = typeof asked.at === "number" ? asked.at : undefined;
  const chosen = fixed ?? (at === undefined ? node || null : at);
  const ready = edits !== undefined && chosen !== null;
  return (
    <ActionForm<Started>
      {...props}
      title="Fork this run"
      action={ready ? forkRequest(run, { at: chosen, ...edits, id: id.trim() || undefined }) : undefined}
      confirm="Fork"
      done={(made) => `Forked as ${made.id}`}
      then={(made) => navigate(`/runs/${encodeURIComponent(made.id)}`)}
    >
      <p className="muted">Starts a new run with the same history. This run does not change.</p>
      {fixed !== undefined && (
        <p>
          The history is shared up to <strong>event {fixed}</strong>.
        </p>
      )}
      {fixed === undefined && at === undefined && (
        <SelectField label="Re-run from" value={node} onChange={(event) => setNode(event.target.value)}>
          {view.nodes.filter(canFork).map((one) => (
            <option key={one.id} value={one.id}>
              {placeOf(one)} ({STATUS_WORDS[one.status].toLowerCase()})
            </option>
          ))}
        </SelectField>
      )}
      {children}
      <TextField
        label="ID of the new run"
        placeholder="Generated if left empty"
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
    </ActionForm>
  );
}

/** Only what has started has a place in the history, and compensations are not the run's own steps. */
export function canFork({ kind, started_at, status }: Node): boolean {
  return kind !== "init" && kind !== "rollback" && started_at !== undefined && status !== "skipped";
}

/** What people most often want to re-run: what failed, else the last thing that started. */
function usualNode(nodes: readonly Node[]): string {
  const started = nodes.filter(canFork);
  return (started.find((node) => node.status === "failed") ?? started.at(-1))?.id ?? "";
}
