/** Queues: what waits, what runs, and the limits between the two; and of one queue, who holds its slots. */

import { useState } from "react";
import { api } from "../../api/client";
import type { Queue } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { useResource } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { useQuery } from "../../shell/router";
import { toast } from "../../shell/toasts";
import { usePoll } from "../../shell/use-poll";
import { LimitsDialog } from "./LimitsDialog";
import { queueName } from "./limits";
import { QueueDetail } from "./QueueDetail";
import { QueueTable } from "./QueueTable";
import "./queues.css";

const EVERY = 2000;

export default function Queues() {
  const [query] = useQuery();
  const chosen = query.get("queue");
  const { data, error, reload } = useResource<{ queues: Queue[] }>("/queues");
  usePoll(reload, EVERY);
  return (
    <Page title="Queues">
      <p className="muted">
        Runs and tasks that wait for a slot. Limits hold over all processes; a slot is free again when its run or task
        ends.
      </p>
      {error && (
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      )}
      {!data && !error && <Loading what="Loading queues" />}
      {data && <Known queues={data.queues} chosen={chosen} reload={reload} />}
      {chosen && <QueueDetail name={chosen} />}
    </Page>
  );
}

interface KnownProps {
  queues: Queue[];
  chosen: string | null;
  reload: () => void;
}

function Known({ queues, chosen, reload }: KnownProps) {
  const may = allows(useMe(), "operator");
  const [limiting, setLimiting] = useState<Queue>();
  const { error, send } = useRequest();
  const toggle = async (queue: Queue) => {
    const action = queue.limits?.paused ? "resume" : "pause";
    await api.post(`/queues/${encodeURIComponent(queue.name)}/${action}`);
    toast({ kind: "ok", text: `${action === "pause" ? "Paused" : "Resumed"}: ${queueName(queue.name)}` });
    reload();
  };
  if (queues.length === 0) {
    return (
      <Empty icon="queues" title="No queues yet" command="plait queues set emails --concurrency 5 --rate 50/s">
        A queue is listed here once it has limits, or something waits or works on it.
      </Empty>
    );
  }
  return (
    <>
      {error && <ErrorBox error={error} />}
      <QueueTable
        queues={queues}
        chosen={chosen}
        may={may}
        onLimits={setLimiting}
        onToggle={(queue) => send(() => toggle(queue))}
      />
      {limiting && <LimitsDialog queue={limiting} onClose={() => setLimiting(undefined)} onDone={reload} />}
    </>
  );
}
