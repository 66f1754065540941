/** One turn of an agent again, in a fork: as it was, or with another prompt or model. */

import { useState } from "react";
import type { AgentRecord, AgentTurn } from "../../../api/schema";
import type { Started } from "../../../api/types";
import { TextArea, TextField } from "../../../components/Field";
import { navigate } from "../../../shell/router";
import { ActionForm, type ActionProps } from "./ActionForm";
import { type AgentSettings, turnForkRequest } from "./requests";

interface Props extends ActionProps {
  record: AgentRecord;
  turn: AgentTurn;
}

export function TurnFork({ record, turn, ...props }: Props) {
  const { run, actions } = props.detail;
  const [settings, setSettings] = useState<AgentSettings>({});
  const [id, setId] = useState("");
  const set = (key: keyof AgentSettings) => (event: { target: { value: string } }) =>
    setSettings({ ...settings, [key]: event.target.value });
  return (
    <ActionForm<Started>
      {...props}
      title={`Re-run turn ${turn.turn} of ${record.node_id}`}
      action={turnForkRequest(run, record.node_id, turn.seq, settings, id.trim() || undefined)}
      confirm="Re-run in a fork"
      done={(made) => `Forked as ${made.id}`}
      then={(made) => navigate(`/runs/${encodeURIComponent(made.id)}?tab=agents`)}
    >
      <p className="muted">
        Starts a new run with the same history up to this turn and asks the model again. Earlier replies and tool
        results are kept. This run does not change.
      </p>
      {actions.includes("edit_agents") ? (
        <>
          <TextField
            label="Model"
            placeholder={record.model}
            hint="Keeps the current one if left empty."
            value={settings.model ?? ""}
            onChange={set("model")}
          />
          <TextArea
            label="Prompt"
            rows={5}
            hint="Replaces the prompt of the node; templates work as in its definition. Unchanged if left empty."
            value={settings.prompt ?? ""}
            onChange={set("prompt")}
          />
          <TextArea
            label="Instructions"
            rows={3}
            hint="Replaces the system text of the node. Unchanged if left empty."
            value={settings.instructions ?? ""}
            onChange={set("instructions")}
          />
        </>
      ) : (
        <p>The prompt and the model of this run come from its definition and can't be changed here.</p>
      )}
      <TextField
        label="ID of the new run"
        placeholder="Generated if left empty"
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
    </ActionForm>
  );
}
