/** A dialog for each action: it says what will happen and asks for what is missing. */

import { useState } from "react";
import { CheckField, TextArea, TextField } from "../../../components/Field";
import { parseJson } from "../../../components/parse-json";
import { ActionForm, type ActionProps } from "./ActionForm";
import { ForkDialog } from "./ForkDialog";
import { type Asked, cancelRequest, compensateRequest, messageRequest, retryRequest } from "./requests";

export function ActionDialog({ asked, ...props }: ActionProps & { asked: Asked }) {
  switch (asked.action) {
    case "cancel":
      return <CancelDialog {...props} />;
    case "retry":
    case "resume":
      return <RetryDialog {...props} resume={asked.action === "resume"} />;
    case "compensate":
      return <CompensateDialog {...props} />;
    case "rewind":
      return <RewindDialog {...props} node={asked.node.id} />;
    case "message":
      return <MessageDialog {...props} name={asked.name} />;
    case "fork":
      return <ForkDialog {...props} asked={asked} />;
  }
}

function CancelDialog(props: ActionProps) {
  const { run } = props.detail;
  const [reason, setReason] = useState("");
  const [compensate, setCompensate] = useState(false);
  return (
    <ActionForm
      {...props}
      title="Cancel this run"
      action={cancelRequest(run, reason, compensate)}
      confirm="Cancel the run"
      danger
      done={() => `${run.id} is being cancelled`}
    >
      <p className="muted">Running steps and child runs are cancelled. Completed work is not undone.</p>
      <TextField
        label="Reason"
        hint="Stored with the run."
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      <CheckField
        label="Compensate first"
        hint="Run the compensations of completed steps, newest first."
        checked={compensate}
        onChange={(event) => setCompensate(event.target.checked)}
      />
    </ActionForm>
  );
}

function RetryDialog({ resume, ...props }: ActionProps & { resume: boolean }) {
  const { run } = props.detail;
  return (
    <ActionForm
      {...props}
      title={resume ? "Resume this run" : "Retry this run"}
      action={retryRequest(run)}
      confirm={resume ? "Resume" : "Retry"}
      done={() => (resume ? "Run resumed" : "Retry started")}
    >
      <p className="muted">
        {resume
          ? "Continues where the run was blocked. If the cause persists, it will be blocked again; nothing is lost."
          : "Failed steps are retried. Completed steps keep their results and don't run again."}
      </p>
    </ActionForm>
  );
}

function RewindDialog({ node, ...props }: ActionProps & { node: string }) {
  const { run } = props.detail;
  return (
    <ActionForm
      {...props}
      title="Re-run from here"
      action={retryRequest(run, node)}
      confirm="Re-run from here"
      danger
      done={() => `Re-running from ${node}`}
    >
      <p className="muted">
        The run is taken back to before <code>{node}</code>; it and all after it are done again. What they did outside
        is not undone. To keep this run as it is, fork it instead.
      </p>
    </ActionForm>
  );
}

function CompensateDialog(props: ActionProps) {
  const { run } = props.detail;
  return (
    <ActionForm
      {...props}
      title="Compensate this run"
      action={compensateRequest(run)}
      confirm="Compensate"
      danger
      done={() => "Compensation started"}
    >
      <p className="muted">
        Runs the compensations of completed steps, newest first. A compensated run can't be retried, only forked.
      </p>
    </ActionForm>
  );
}

function MessageDialog({ name: given = "", ...props }: ActionProps & { name?: string }) {
  const { run } = props.detail;
  const [name, setName] = useState(given);
  const [text, setText] = useState("");
  const body = parseJson(text || "null");
  return (
    <ActionForm
      {...props}
      title="Send a message"
      action={name.trim() && body.ok ? messageRequest(run, name.trim(), body.value) : undefined}
      confirm="Send"
      done={() => `Message ${name.trim()} sent`}
    >
      <p className="muted">It is delivered when the run waits for it.</p>
      <TextField label="Name" value={name} required onChange={(event) => setName(event.target.value)} />
      <TextArea
        label="Body (JSON)"
        placeholder="null"
        value={text}
        error={body.ok ? undefined : body.error}
        onChange={(event) => setText(event.target.value)}
      />
    </ActionForm>
  );
}
