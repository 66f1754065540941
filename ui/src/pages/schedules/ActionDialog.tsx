/** The last look before a schedule is paused, resumed, triggered or deleted. */

import { useState } from "react";
import { api } from "../../api/client";
import type { Schedule, Triggered } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { SelectField } from "../../components/Field";
import { navigate } from "../../shell/router";
import { toast } from "../../shell/toasts";
import { actionCopy, schedulePath, type Verb } from "./schedule";

const WORDS: { [verb in Verb]: { title: string; button: string; about: string; done: string } } = {
  pause: {
    title: "Pause this schedule?",
    button: "Pause",
    about: "Times that come while it is paused start no runs, not even afterwards. Runs under way continue.",
    done: "Paused",
  },
  resume: {
    title: "Resume this schedule?",
    button: "Resume",
    about: "It continues with its next time from now.",
    done: "Resumed",
  },
  trigger: {
    title: "Start a run now?",
    button: "Start",
    about: "The run gets the input of the schedule. Its other times stay as they are.",
    done: "Triggered",
  },
  delete: {
    title: "Delete this schedule?",
    button: "Delete",
    about: "It starts no more runs. Runs that it has started stay and continue.",
    done: "Deleted",
  },
};

interface Props {
  schedule: Schedule;
  verb: Verb;
  onClose: () => void;
  onDone: () => void;
}

export function ActionDialog({ schedule, verb, onClose, onDone }: Props) {
  const { busy, error, send } = useRequest();
  const [overlap, setOverlap] = useState("");
  const words = WORDS[verb];
  const path = schedulePath(schedule.name);
  const act = async () => {
    if (verb === "delete") {
      await api.delete(path);
      navigate("/schedules");
    } else if (verb === "trigger") {
      const { run_id } = await api.post<Triggered>(`${path}/trigger`, { overlap: overlap || undefined });
      toast({ kind: "ok", text: `Starting ${run_id}` });
    } else {
      await api.post(`${path}/${verb}`);
    }
    if (verb !== "trigger") toast({ kind: "ok", text: `${words.done} ${schedule.name}` });
    onDone();
    onClose();
  };
  return (
    <Dialog
      title={words.title}
      onClose={onClose}
      onSubmit={() => send(act)}
      footer={
        <>
          <CopyAs up action={actionCopy(schedule, verb)} />
          <span className="grow" />
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look={verb === "delete" ? "danger" : "primary"} busy={busy} data-autofocus>
            {words.button}
          </Button>
        </>
      }
    >
      <p>
        <strong>{schedule.name}</strong>
      </p>
      <p className="muted">{words.about}</p>
      {verb === "trigger" && (
        <SelectField
          label="If a run has not ended"
          value={overlap}
          onChange={(event) => setOverlap(event.target.value)}
          hint="By default the schedule's own rule applies."
        >
          <option value="">{(schedule.overlap ?? "skip").replace("_", " ")} (the schedule's rule)</option>
          <option value="allow">allow: start beside it</option>
          <option value="queue">queue: start after it</option>
          <option value="cancel_previous">cancel previous: cancel it, then start</option>
        </SelectField>
      )}
      {error && <ErrorBox error={error} title="Request failed" />}
    </Dialog>
  );
}
