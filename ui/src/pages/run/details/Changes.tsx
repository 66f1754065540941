/** What the run began with and what it goes by now, each change of it, and how to take one back. */

import { useEffect, useMemo, useState } from "react";
import { api } from "../../../api/client";
import type { GraphChange, RunGraph } from "../../../api/schema";
import type { RunDetail } from "../../../api/types";
import { useRequest } from "../../../api/use-request";
import { useResource } from "../../../api/use-resource";
import { Button, LinkButton } from "../../../components/Button";
import { CopyAs } from "../../../components/CopyAs";
import { Dialog } from "../../../components/Dialog";
import { Empty } from "../../../components/Empty";
import { ErrorBox } from "../../../components/ErrorBox";
import { Json } from "../../../components/Json";
import { Ago } from "../../../components/Time";
import { Loading } from "../../../shell/fallbacks";
import { allows, useMe } from "../../../shell/me";
import { toast } from "../../../shell/toasts";
import { editorOf } from "../../editor/editors";
import { runPath } from "../use-run";
import { inverseOf } from "./changes";
import { detailsOf } from "./details";
import "./details.css";

interface Props {
  detail: RunDetail;
  onPatched: () => void;
}

export default function Changes({ detail, onPatched }: Props) {
  const { run, view } = detail;
  const editor = editorOf(run.dialect);
  const { revision } = detailsOf(view);
  const { data, error, reload } = useResource<RunGraph>(editor && runPath(run.id, `/${editor.ofRun}`));
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision is another graph
  useEffect(reload, [revision]);
  const [undone, setUndone] = useState<GraphChange>();
  const may = allows(useMe(), "editor") && run.status === "running";
  if (error) {
    return (
      <ErrorBox error={error}>
        <Button onClick={reload}>Try again</Button>
      </ErrorBox>
    );
  }
  if (!data || !editor) return <Loading what="Loading the changes" />;
  return (
    <div className="run-changes">
      <div className="row wrap">
        <h2>Revision {data.revision}</h2>
        <span className="grow" />
        {may && (
          <LinkButton to={`/runs/${encodeURIComponent(run.id)}/edit`} icon="edit">
            Patch this run
          </LinkButton>
        )}
      </div>
      {data.changes.length === 0 && (
        <Empty icon="edit" title="Not changed since it began">
          {may
            ? "Patch this run to change what it does from where its tokens are now; other runs are not affected."
            : "A patch of a run in flight would be listed here."}
        </Empty>
      )}
      {data.changes.length > 0 && (
        <>
          <editor.Difference before={data.base} after={data.definition} />
          <ChangeList changes={data.changes} onUndo={may ? setUndone : undefined} />
        </>
      )}
      {undone && (
        <UndoDialog
          run={run.id}
          graph={data}
          change={undone}
          onClose={() => setUndone(undefined)}
          onDone={() => {
            setUndone(undefined);
            onPatched();
          }}
        />
      )}
    </div>
  );
}

interface ListProps {
  changes: GraphChange[];
  /** Undefined: the caller may only look, or the run has ended. */
  onUndo: ((change: GraphChange) => void) | undefined;
}

function ChangeList({ changes, onUndo }: ListProps) {
  return (
    <ol className="changes">
      {changes.map((change, index) => (
        <li key={change.seq}>
          <div className="row wrap">
            <strong>{KINDS[change.kind]}</strong>
            <span className="muted">
              revision {index + 2}
              {change.by && ` by ${change.by}`}, event {change.seq}, <Ago at={change.at} />
            </span>
            <span className="grow" />
            {onUndo && (
              <Button className="small" icon="undo" onClick={() => onUndo(change)}>
                Undo
              </Button>
            )}
          </div>
          {change.description && <p>{change.description}</p>}
          <details>
            <summary className="muted">
              {change.operations.length} operation{change.operations.length === 1 ? "" : "s"}
            </summary>
            <Json value={change.operations} label={`operations of revision ${index + 2}`} />
          </details>
        </li>
      ))}
    </ol>
  );
}

const KINDS: { [kind in GraphChange["kind"]]: string } = {
  patch: "Patched",
  migration: "Moved to another version",
  fork: "Forked with another graph",
};

interface UndoProps {
  run: string;
  graph: RunGraph;
  change: GraphChange;
  onClose: () => void;
  onDone: () => void;
}

function UndoDialog({ run, graph, change, onClose, onDone }: UndoProps) {
  const { operations, conflicts } = useMemo(() => inverseOf(graph, change), [graph, change]);
  const { busy, error, send } = useRequest();
  const body = { operations, base_revision: graph.revision };
  const path = runPath(run, "/patch");
  const submit = () =>
    send(async () => {
      await api.post(path, body);
      toast({ kind: "ok", text: "The change is undone" });
      onDone();
    });
  return (
    <Dialog
      title="Undo this change?"
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <CopyAs up action={{ method: "POST", path, body }} />
          <span className="grow" />
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look="primary" busy={busy} disabled={operations.length === 0} data-autofocus>
            Undo
          </Button>
        </>
      }
    >
      <p>
        The run is patched with the inverse. What has run is not run again; a node where a token is now can't be
        removed.
      </p>
      {operations.length === 0 && <p className="muted">There is nothing left to undo.</p>}
      {conflicts.length > 0 && (
        <p className="field-error">
          Later changes of the same parts are undone with it: {conflicts.map(({ pointer }) => pointer).join(", ")}
        </p>
      )}
      <Json value={operations} label="inverse operations" />
      {error && <ErrorBox error={error} title="Refused" />}
    </Dialog>
  );
}
