/** One recording: its calls as they come, and the workflow that they would make. */

import { useState } from "react";
import { api } from "../../api/client";
import { asProblem } from "../../api/use-resource";
import { Button, LinkButton } from "../../components/Button";
import { copyText } from "../../components/clipboard";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Json } from "../../components/Json";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { Link } from "../../shell/router";
import { toast } from "../../shell/toasts";
import { runPath, useRun } from "../run/use-run";
import { DraftSteps } from "./DraftSteps";
import {
  accepted,
  type Choices,
  chosen,
  clientConfig,
  type Draft,
  isIncluded,
  NO_CHOICES,
  nameFrom,
  renamed,
} from "./draft";
import { SaveTemplate } from "./SaveTemplate";
import { Suggestions } from "./Suggestions";
import { useDraft } from "./use-draft";

export function RecordingPage({ id }: { id: string }) {
  const { now, problem, live, told } = useRun(id, undefined, false);
  const [choices, setChoices] = useState<Choices>(NO_CHOICES);
  const [saving, setSaving] = useState(false);
  const seq = now && Math.max(now.seq, live.events.at(-1)?.seq ?? 0);
  const { draft, problem: refused } = useDraft(id, choices, seq);
  const me = useMe();
  const open = now?.run.status === "running";
  const wrong = draft?.problems.some(({ severity }) => severity === "error") ?? true;
  const empty = draft?.steps.length === 0;
  const nothing = !draft?.steps.some((step) => isIncluded(choices, step));
  return (
    <Page
      title={now ? `Recording ${now.run.definition}` : "Recording"}
      head={<Head id={id} title={now?.run.definition ?? ""} open={open} />}
      actions={
        <>
          {open && allows(me, "operator") && <StopButton id={id} onStopped={told} />}
          <LinkButton to={`/runs/${encodeURIComponent(id)}`}>Show the run</LinkButton>
          <Button
            look="primary"
            icon="check"
            disabled={wrong || nothing || !allows(me, "editor")}
            title={wrong ? "There are problems" : nothing ? "No step is included" : "Save as a workflow"}
            onClick={() => setSaving(true)}
          >
            Save as a workflow
          </Button>
        </>
      }
    >
      {(problem ?? refused) && <ErrorBox error={problem ?? asProblem(refused)} />}
      {open && <Connect id={id} />}
      {!draft && !problem && !refused && <Loading what="Loading the recording" />}
      {draft && empty && (
        <Empty icon="message" title="Nothing was recorded yet">
          Each tool call of a connected client shows up here at once.
        </Empty>
      )}
      {draft && !empty && <Drafted draft={draft} choices={choices} onChoices={setChoices} />}
      {saving && draft && (
        <SaveTemplate
          recording={id}
          choices={choices}
          suggested={nameFrom(now?.run.definition ?? "")}
          onClose={() => setSaving(false)}
        />
      )}
    </Page>
  );
}

function Head({ id, title, open }: { id: string; title: string; open: boolean }) {
  return (
    <div className="row">
      <Link className="text" to="/recordings">
        Recordings
      </Link>
      <span className="faint">/</span>
      <h1 className="clip" title={id}>
        {title || id}
      </h1>
      <span className="chip">{open ? "open" : "stopped"}</span>
    </div>
  );
}

function StopButton({ id, onStopped }: { id: string; onStopped: () => void }) {
  const [busy, setBusy] = useState(false);
  const stop = async () => {
    setBusy(true);
    try {
      await api.post(runPath(id, "/messages"), { name: "stop", body: {} });
      onStopped();
    } catch (thrown) {
      toast({ kind: "error", text: asProblem(thrown).message });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button icon="stop" busy={busy} onClick={() => void stop()}>
      Stop
    </Button>
  );
}

function Connect({ id }: { id: string }) {
  const config = clientConfig(window.location.origin, id);
  return (
    <details className="card recording-connect" open>
      <summary>Connect an MCP client</summary>
      <p className="muted">
        Put this into the client's <code>.mcp.json</code>. It then has the tools of all configured servers, and every
        call is recorded. Arguments may refer to earlier results, as in <code>@get_user_1.id</code>.
      </p>
      <pre className="mono">{config}</pre>
      <Button icon="copy" className="small" onClick={() => void copyText(config, "the configuration")}>
        Copy
      </Button>
    </details>
  );
}

interface DraftedProps {
  draft: Draft;
  choices: Choices;
  onChoices: (choices: Choices) => void;
}

function Drafted({ draft, choices, onChoices }: DraftedProps) {
  return (
    <div className="recording-parts">
      <div className="stack">
        <DraftSteps
          steps={draft.steps.map((step) => ({ ...step, included: isIncluded(choices, step) }))}
          onInclude={(step, yes) => onChoices(chosen(choices, step, yes))}
          onRename={(step, to) => onChoices(renamed(choices, step.name, to))}
        />
        {draft.problems.length > 0 && (
          <section className="card stack tight" aria-label="Problems">
            <h2>Problems</h2>
            <ul>
              {draft.problems.map(({ code, pointer, message, severity }) => (
                <li key={`${code} ${pointer} ${message}`} className={severity === "error" ? "field-error" : "muted"}>
                  {message} {pointer && <code>{pointer}</code>}
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
      <div className="stack">
        <Suggestions
          suggestions={draft.suggestions}
          accepted={choices.accept}
          onAccept={(id, yes) => onChoices(accepted(choices, id, yes))}
        />
        <section className="card stack tight" aria-label="Input of the workflow">
          <h2>Input of the workflow</h2>
          <Json value={draft.input_schema} label="Input schema" />
        </section>
      </div>
    </div>
  );
}
