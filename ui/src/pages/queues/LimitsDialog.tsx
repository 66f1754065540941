import { useState } from "react";
import { api } from "../../api/client";
import type { Queue } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { TextField } from "../../components/Field";
import { toast } from "../../shell/toasts";
import { fieldsOf, isSound, type LimitFields, limitsBody, limitsCommand, queueName } from "./limits";

type Counts = Exclude<keyof LimitFields, "partitioned">;

const FIELDS: [Counts, string, string][] = [
  ["concurrency", "At once", "Over all processes. Runs and tasks are counted separately."],
  ["per_worker", "Per worker", "Tasks that one worker has at once, and runs that one engine has."],
  ["rate", "Rate", "How many may start in any period."],
  ["seconds", "Period of the rate, in seconds", ""],
  ["max_waiting", "Waiting", "Runs beyond this number are refused."],
];

interface Props {
  queue: Queue;
  onClose: () => void;
  onDone: () => void;
}

export function LimitsDialog({ queue, onClose, onDone }: Props) {
  const [fields, setFields] = useState(() => fieldsOf(queue));
  const { busy, error, send } = useRequest();
  const path = `/queues/${encodeURIComponent(queue.name)}`;
  const body = limitsBody(fields);
  const save = async () => {
    await api.put(path, body);
    toast({ kind: "ok", text: `Limits saved: ${queueName(queue.name)}` });
    onDone();
    onClose();
  };
  return (
    <Dialog
      title={`Limits of ${queueName(queue.name)}`}
      onClose={onClose}
      onSubmit={() => send(save)}
      footer={
        <>
          <CopyAs up action={{ method: "PUT", path, body, cli: limitsCommand(queue.name, fields) }} />
          <span className="grow" />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy} disabled={!isSound(fields)}>
            Save
          </Button>
        </>
      }
    >
      <p className="muted">Empty means no limit. Limits apply to everything that starts from now on.</p>
      {FIELDS.map(([name, label, hint]) => (
        <TextField
          key={name}
          label={label}
          hint={hint || undefined}
          inputMode="decimal"
          value={fields[name]}
          onChange={(event) => setFields({ ...fields, [name]: event.target.value })}
        />
      ))}
      <label className="row">
        <input
          type="checkbox"
          checked={fields.partitioned}
          onChange={(event) => setFields({ ...fields, partitioned: event.target.checked })}
        />
        Each partition key has these limits for itself
      </label>
      {error && <ErrorBox error={error} title="Could not save the limits" />}
    </Dialog>
  );
}
