/** Recordings: those that are open, and those that were. */

import { useState } from "react";
import { api } from "../../api/client";
import { useLiveRuns } from "../../api/live";
import type { Json } from "../../api/types";
import { asProblem } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { TextField } from "../../components/Field";
import { Status, shownStatus } from "../../components/Status";
import { Ago } from "../../components/Time";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { Link, navigate } from "../../shell/router";
import { recordingPath } from "./paths";

export function RecordingList() {
  const { runs, problem } = useLiveRuns({ dialect: "refs", label: ["recording:yes"], limit: 200 });
  const [starting, setStarting] = useState(false);
  const may = allows(useMe(), "operator");
  return (
    <Page
      title="Recordings"
      actions={
        may && (
          <Button look="primary" icon="plus" onClick={() => setStarting(true)}>
            Start a recording
          </Button>
        )
      }
    >
      {problem && <ErrorBox error={problem} />}
      {!runs && !problem && <Loading what="Loading recordings" />}
      {runs?.length === 0 && (
        <Empty icon="message" title="No recordings yet" command="plait mcp --record">
          Connect an MCP client to a recording and do the job with its tools once: each call becomes a step of a
          workflow that you can save and run again.
        </Empty>
      )}
      {runs && runs.length > 0 && (
        <div className="card definitions-scroll">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Recording</th>
                <th scope="col">Title</th>
                <th scope="col">Status</th>
                <th scope="col">Started</th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <tr key={run.id}>
                  <td>
                    <Link className="text mono" to={recordingPath(run.id)}>
                      {run.id}
                    </Link>
                  </td>
                  <td>{run.definition}</td>
                  <td>
                    {run.status === "running" ? (
                      <span className="chip">open</span>
                    ) : (
                      <Status status={shownStatus(run)} />
                    )}
                  </td>
                  <td>
                    <Ago at={run.created_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {starting && <StartDialog onClose={() => setStarting(false)} />}
    </Page>
  );
}

function StartDialog({ onClose }: { onClose: () => void }) {
  const [title, setTitle] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const start = async () => {
    setBusy(true);
    try {
      const definition: Json = { mode: "recording", ...(title && { title }) };
      const labels = { recording: "yes" };
      const { id } = await api.post<{ id: string }>("/runs", { dialect: "refs", definition, input: {}, labels });
      navigate(recordingPath(id));
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Start a recording"
      onClose={onClose}
      onSubmit={() => void start()}
      footer={
        <Button look="primary" type="submit" busy={busy}>
          Start
        </Button>
      }
    >
      {error !== undefined && <ErrorBox error={asProblem(error)} />}
      <TextField
        label="Title"
        hint="What is being done, such as “Refund an order”"
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
    </Dialog>
  );
}
