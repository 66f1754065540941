/** Runs for times of the past. */

import { useState } from "react";
import { api } from "../../api/client";
import type { Schedule } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { SelectField, TextField } from "../../components/Field";
import { toast } from "../../shell/toasts";
import { schedulePath } from "./schedule";

interface Props {
  schedule: Schedule;
  onClose: () => void;
  onDone: () => void;
}

export function BackfillDialog({ schedule, onClose, onDone }: Props) {
  const { busy, error, send } = useRequest();
  const [since, setSince] = useState("");
  const [until, setUntil] = useState("");
  const [overlap, setOverlap] = useState("queue");
  const range = [Date.parse(`${since}Z`), Date.parse(`${until}Z`)];
  const act = async () => {
    const body = { since: range[0], until: range[1], overlap };
    const { count } = await api.post<{ count: number }>(`${schedulePath(schedule.name)}/backfill`, body);
    toast({ kind: "ok", text: `Backfill of ${count} ${count === 1 ? "time" : "times"} started` });
    onDone();
    onClose();
  };
  return (
    <Dialog
      title="Backfill"
      onClose={onClose}
      onSubmit={() => send(act)}
      footer={
        <>
          <span className="grow" />
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look="primary" busy={busy} disabled={range.some(Number.isNaN)}>
            Backfill
          </Button>
        </>
      }
    >
      <p className="muted">Starts runs for past times. Times that already have a run don't get another.</p>
      <TextField
        label="From (UTC)"
        type="datetime-local"
        value={since}
        onChange={(event) => setSince(event.target.value)}
      />
      <TextField
        label="Until (UTC)"
        type="datetime-local"
        value={until}
        onChange={(event) => setUntil(event.target.value)}
      />
      <SelectField label="Runs" value={overlap} onChange={(event) => setOverlap(event.target.value)}>
        <option value="queue">one after the other</option>
        <option value="allow">side by side</option>
      </SelectField>
      {error && <ErrorBox error={error} title="Request failed" />}
    </Dialog>
  );
}
