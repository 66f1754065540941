/** One queue: who holds its slots since when, and which workers ask for its tasks. */

import type { QueueDetail as Detail, QueueSlot } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { CodeText } from "../../components/CodeText";
import { ErrorBox } from "../../components/ErrorBox";
import { Ago } from "../../components/Time";
import { Loading } from "../../shell/fallbacks";
import { Link } from "../../shell/router";
import { usePoll } from "../../shell/use-poll";
import { queueName } from "./limits";

const EVERY = 2000;

export function QueueDetail({ name }: { name: string }) {
  const { data, error, reload } = useResource<Detail>(`/queues/${encodeURIComponent(name)}`);
  usePoll(reload, EVERY);
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading what="Loading the queue" />;
  return (
    <section className="stack" aria-label={`Queue ${queueName(name)}`}>
      <h2>Slots</h2>
      {data.slots.length === 0 ? <p className="muted">Nobody holds a slot.</p> : <Slots slots={data.slots} />}
      <h2>Workers</h2>
      {data.workers.length === 0 ? (
        <p className="muted">No worker has asked for tasks of this queue lately.</p>
      ) : (
        <ul className="queue-workers">
          {data.workers.map(({ worker, seen_at }) => (
            <li key={worker}>
              <span className="mono">{worker}</span>{" "}
              <span className="muted">
                {data.slots.filter((slot) => slot.worker === worker).length} tasks, asked <Ago at={seen_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Slots({ slots }: { slots: QueueSlot[] }) {
  const keyed = slots.some((slot) => slot.partition);
  return (
    <div className="card queue-scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">What</th>
            <th scope="col">Held by</th>
            {keyed && <th scope="col">Key</th>}
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {slots.map((slot) => (
            <tr key={`${slot.kind} ${slot.run_id} ${slot.label} ${slot.since}`}>
              <td>
                <Link className="mono" to={`/runs/${encodeURIComponent(slot.run_id)}`}>
                  {slot.run_id}
                </Link>
              </td>
              <td>
                <CodeText text={slot.label} />
              </td>
              <td>{slot.worker ? <span className="mono">{slot.worker}</span> : "the run"}</td>
              {keyed && <td>{slot.partition}</td>}
              <td>
                <Ago at={slot.since} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
