import type { Queue } from "../../api/types";
import { Button } from "../../components/Button";
import { Link } from "../../shell/router";
import { limitWords, queueName } from "./limits";

interface Props {
  queues: Queue[];
  chosen: string | null;
  may: boolean;
  onLimits: (queue: Queue) => void;
  onToggle: (queue: Queue) => void;
}

export function QueueTable({ queues, chosen, may, onLimits, onToggle }: Props) {
  return (
    <div className="card queue-scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Queue</th>
            <th scope="col">Limits</th>
            <th scope="col">Waiting</th>
            <th scope="col">Running</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {queues.map((queue) => (
            <tr key={queue.name} aria-current={queue.name === chosen ? "true" : undefined}>
              <td className="queue-name">
                <Link to={`/queues?queue=${encodeURIComponent(queue.name)}`}>{queueName(queue.name)}</Link>{" "}
                {queue.limits?.paused && <span className="chip">paused</span>}
              </td>
              <td className="queue-limits">
                {limitWords(queue.limits).join(", ") || <span className="muted">none</span>}
              </td>
              <td>{counts(queue.waiting_runs, queue.waiting_tasks, queue.delayed_runs)}</td>
              <td>{counts(queue.running_runs, queue.running_tasks)}</td>
              <td>
                {may && (
                  <div className="row queue-actions">
                    <Button onClick={() => onLimits(queue)} aria-label={`Set limits of ${queueName(queue.name)}`}>
                      Limits
                    </Button>
                    <Button
                      onClick={() => onToggle(queue)}
                      aria-label={`${queue.limits?.paused ? "Resume" : "Pause"} ${queueName(queue.name)}`}
                    >
                      {queue.limits?.paused ? "Resume" : "Pause"}
                    </Button>
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function counts(runs = 0, tasks = 0, delayed = 0): string {
  const found: string[] = [];
  if (runs) found.push(runs === 1 ? "1 run" : `${runs} runs`);
  if (tasks) found.push(tasks === 1 ? "1 task" : `${tasks} tasks`);
  if (delayed) found.push(`${delayed} delayed`);
  return found.join(", ") || "0";
}
