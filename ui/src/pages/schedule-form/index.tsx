/** A schedule, new or edited, with its next ten times before it is saved. */

import { useState } from "react";
import { api } from "../../api/client";
import { currentNamespace } from "../../api/namespace";
import type { Definition, Schedule } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { useResource } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page, type PageProps } from "../../shell/page";
import { navigate } from "../../shell/router";
import { toast } from "../../shell/toasts";
import { NextTimes } from "../schedules/NextTimes";
import { schedulePath } from "../schedules/schedule";
import { bodyOf, type Draft, draftOf, EMPTY, saveCopy, wrongIn } from "./draft";
import { RunFields, TimingFields } from "./Fields";
import { usePreview } from "./use-preview";
import "../schedules/schedules.css";
import "./schedule-form.css";

export default function ScheduleForm({ params }: PageProps) {
  const { name } = params;
  const { data, error } = useResource<Schedule>(name === undefined ? undefined : schedulePath(name));
  const known = useResource<{ definitions: Definition[] }>("/definitions");
  const ready = (name === undefined || data !== undefined) && (known.data !== undefined || known.error !== undefined);
  return (
    <Page title={name === undefined ? "New schedule" : `Edit ${name}`}>
      {error && <ErrorBox error={error} />}
      {!ready && !error && <Loading what="Loading the schedule" />}
      {ready && (
        <Form before={data && draftOf(data)} definitions={(known.data?.definitions ?? []).map((one) => one.name)} />
      )}
    </Page>
  );
}

function Form({ before, definitions }: { before: Draft | undefined; definitions: string[] }) {
  const may = allows(useMe(), "operator");
  const [draft, setDraft] = useState(before ?? EMPTY);
  const [tried, setTried] = useState(false);
  const { busy, error, send } = useRequest();
  const preview = usePreview(draft);
  const wrong = wrongIn(draft);
  const save = async () => {
    const query = before === undefined ? "?new=true" : "";
    await api.put(`${schedulePath(draft.name)}${query}`, bodyOf(draft) as never);
    toast({ kind: "ok", text: `Saved ${draft.name}` });
    navigate(schedulePath(draft.name));
  };
  const fields = { draft, onChange: setDraft, wrong: tried ? wrong : {} };
  return (
    <div className="schedule-form">
      <form
        className="card pad stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (may && !Object.values(wrong).some(Boolean)) send(save);
        }}
      >
        <RunFields {...fields} definitions={definitions} fixed={before !== undefined} />
        <TimingFields {...fields} />
        {error && <ErrorBox error={error} title="Could not save the schedule" />}
        <div className="row wrap">
          <Button type="submit" look="primary" icon="check" busy={busy} disabled={!may}>
            Save
          </Button>
          <span className="grow" />
          <CopyAs up action={saveCopy(draft, currentNamespace())} />
        </div>
      </form>
      <section className="card pad stack tight" aria-label="Next times" aria-live="polite">
        <h2>Next times</h2>
        {preview.problem && <ErrorBox error={preview.problem} />}
        {preview.times && <NextTimes times={preview.times} zone={draft.tz.trim() || "UTC"} />}
        {!preview.times && !preview.problem && <Loading what="Loading the next times" />}
      </section>
    </div>
  );
}
