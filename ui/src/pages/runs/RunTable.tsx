import { memo } from "react";
import type { Run, ShownStatus } from "../../api/types";
import { shortId } from "../../components/format";
import { Icon } from "../../components/Icon";
import { totalWords } from "../../components/model-use";
import { Status, shownStatus } from "../../components/Status";
import { Ago, Duration } from "../../components/Time";
import { waitWords } from "../../components/wait-words";
import { Link } from "../../shell/router";

interface TableProps {
  runs: Run[];
  selected: string[];
  onToggle: (id: string) => void;
  onLabel: (label: string) => void;
}

export function RunTable({ runs, selected, onToggle, onLabel }: TableProps) {
  return (
    <table className="runs">
      <caption className="visually-hidden">Runs, newest first</caption>
      <thead>
        <tr>
          <th className="c-pick">
            <span className="visually-hidden">Compare</span>
          </th>
          <th className="c-status">Status</th>
          <th className="c-what">Definition</th>
          <th className="c-id">Run</th>
          <th className="c-more">Reason and labels</th>
          <th className="c-dialect">Dialect</th>
          <th className="c-age">Started</th>
          <th className="c-took">Duration</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <Row key={run.id} run={run} selected={selected.includes(run.id)} onToggle={onToggle} onLabel={onLabel} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps extends Pick<TableProps, "onToggle" | "onLabel"> {
  run: Run;
  selected: boolean;
}

// The callbacks are made anew by every render of the page, but do the same.
const Row = memo(RowOf, (a, b) => a.run === b.run && a.selected === b.selected);

function RowOf({ run, selected, onToggle, onLabel }: RowProps) {
  const status = shownStatus(run);
  return (
    <tr className={selected ? "selected" : undefined}>
      <td className="c-pick">
        <input
          type="checkbox"
          checked={selected}
          onChange={() => onToggle(run.id)}
          aria-label={`Select ${run.id} to compare`}
        />
      </td>
      <td className={run.parent && status === "failed" ? "c-status quiet" : "c-status"}>
        <Status status={status} />
      </td>
      <td className="c-what clip">
        <span className="runs-definition">{run.definition}</span>
        {run.version && <span className="faint"> @{run.version.slice(0, 8)}</span>}
      </td>
      <td className="c-id clip">
        <Link
          to={`/runs/${encodeURIComponent(run.id)}`}
          data-run-row={run.id}
          className="runs-link mono"
          title={run.id}
        >
          <span className="visually-hidden">{run.definition} </span>
          {shortId(run.id)}
        </Link>
      </td>
      <td className="c-more">
        <div className="runs-more-cell">
          {run.partial && (
            <span className="chip run-partial" title="Some steps failed">
              partial success
            </span>
          )}
          <Told run={run} status={status} />
          <ModelUse run={run} />
          {Object.entries(run.labels ?? {}).map(([key, value]) => (
            <button
              key={key}
              type="button"
              className="chip runs-label"
              title={`Filter by ${key}:${value}`}
              onClick={() => onLabel(`${key}:${value}`)}
            >
              <span className="faint">{key}</span>
              {value}
            </button>
          ))}
        </div>
      </td>
      <td className="c-dialect">
        <span className="chip">{run.dialect}</span>
      </td>
      <td className="c-age muted">
        <Ago at={run.created_at} />
      </td>
      <td className="c-took muted">
        <Duration from={run.created_at} to={run.ended_at} idle={run.idle_ms} />
        {(run.reopened ?? 0) > 0 && (
          <span className="runs-again" title="Tried again: the time in between is not counted">
            <Icon name="retry" size={12} />
          </span>
        )}
      </td>
    </tr>
  );
}

/** What its agents used, if there were any. */
function ModelUse({ run: { agents } }: { run: Run }) {
  const words = agents && totalWords(agents);
  if (!words) return null;
  return (
    <span className="chip runs-use" title="What its agents used">
      {words}
    </span>
  );
}

/** Why it failed, is blocked, or waits. What a child failed of is told by its parent. */
function Told({ run, status }: { run: Run; status: ShownStatus }) {
  const { cause, error, blocked, waiting, parent } = run;
  if (parent && status === "failed") {
    return (
      <Link className="clip runs-parent" to={`/runs/${encodeURIComponent(parent)}`} title={cause?.text}>
        child of {shortId(parent)}
      </Link>
    );
  }
  const told = error ?? blocked;
  if (told) {
    return (
      <span className={`clip runs-error st-${status}`} title={`${told.code}: ${told.message}`}>
        {cause?.text ?? told.message}
      </span>
    );
  }
  if (status !== "waiting" || !waiting) return null;
  const words = waitWords(waiting);
  return (
    <span className="clip runs-waiting" title={words}>
      {words}
    </span>
  );
}
