import { withQuery } from "../../api/namespace";
import type { AgentTotals } from "../../api/schema";
import type { Run, RunDetail, RunPage, View } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { IconButton } from "../../components/Button";
import { copyText } from "../../components/clipboard";
import { ErrorBox } from "../../components/ErrorBox";
import { shortId, span } from "../../components/format";
import { Icon } from "../../components/Icon";
import { totalWords } from "../../components/model-use";
import { Status, StatusIcon, shownStatus } from "../../components/Status";
import { Ago, Duration } from "../../components/Time";
import { Link } from "../../shell/router";
import { ActionButtons } from "./actions/ActionButtons";
import type { Asked } from "./actions/requests";
import { detailsOf } from "./details/details";

interface HeaderProps {
  detail: RunDetail;
  shown: RunDetail;
  past: boolean;
  onAction: (asked: Asked) => void;
}

export function Header({ detail, shown, past, onAction }: HeaderProps) {
  const { run } = detail;
  // For an earlier event, use the picture: the record is always the current one.
  const status = shownStatus(past ? shown.view : run);
  return (
    <header className="run-head">
      <div className="run-title">
        <Link to="/runs" className="run-back" aria-label="Back to runs" title="Back to runs">
          <Icon name="left" />
        </Link>
        <h1 className="clip" title={run.id}>
          {run.id}
        </h1>
        <IconButton icon="copy" label="Copy ID" className="small" onClick={() => void copyText(run.id, "the ID")} />
        <Status status={status} />
        {detailsOf(shown.view).partial && (
          <Link
            className="chip run-partial"
            to={`/runs/${encodeURIComponent(run.id)}?tab=steps`}
            title="Some steps failed"
          >
            partial success
          </Link>
        )}
        <div className="grow" />
        {!past && <ActionButtons detail={detail} onAction={onAction} />}
      </div>
      <Facts run={run} goals={detailsOf(detail.view).plan?.goals} agents={shown.view.agents} />
      {run.erased_at !== undefined && (
        <p className="muted">
          Erased <Ago at={run.erased_at} />: its values can't be read any more.
        </p>
      )}
      {run.error && status === "failed" && !shown.view.cause && <ErrorBox error={run.error} />}
      {run.error?.message && status === "cancelled" && <p className="muted">Cancelled: {run.error.message}</p>}
    </header>
  );
}

interface FactsProps {
  run: Run;
  goals: string[] | undefined;
  agents: View["agents"];
}

function Facts({ run, goals, agents }: FactsProps) {
  const { definition, version } = run;
  const query = version ? `?version=${encodeURIComponent(version)}` : "";
  // A plan is of goals, which are no stored definition: what they mean is in the catalog.
  const link = goals
    ? withQuery("/catalog", { tab: "plan", goal: goals })
    : `/definitions/${encodeURIComponent(definition)}${query}`;
  return (
    <div className="run-facts">
      <span>
        <Link to={link} className="text">
          {definition}
          {version && <span className="faint">@{version.slice(0, 12)}</span>}
        </Link>
      </span>
      <span className="chip">{run.dialect}</span>
      <span className="muted">
        started <Ago at={run.created_at} />
      </span>
      <span className="muted">
        {run.ended_at !== undefined ? "took " : run.phase === "waiting" ? "so far " : "running for "}
        <Duration from={run.created_at} to={run.ended_at} idle={run.idle_ms} />
      </span>
      <Again run={run} />
      {agents && <ModelUse run={run} agents={agents} />}
      {run.deadline !== undefined && run.ended_at === undefined && (
        <span className="muted">
          deadline <Ago at={run.deadline} />
        </span>
      )}
      {Object.entries(run.labels ?? {}).map(([key, value]) => (
        <Link key={key} className="chip" to={`/runs?label=${encodeURIComponent(`${key}:${value}`)}`}>
          <span className="faint">{key}</span>
          {value}
        </Link>
      ))}
      <Family run={run} />
    </div>
  );
}

function ModelUse({ run, agents }: { run: Run; agents: AgentTotals }) {
  const words = totalWords(agents);
  if (words === undefined) return null;
  return (
    <Link className="chip" to={`/runs/${encodeURIComponent(run.id)}?tab=agents`} title="What its agents used">
      {words}
    </Link>
  );
}

/** What it did before: it is a fork, or had ended already. */
function Again({ run: { id, forked_from, forked_at, reopened = 0, idle_ms = 0 } }: { run: Run }) {
  return (
    <>
      {reopened > 0 && (
        <span className="chip" title={`It had ended, and went on ${span(idle_ms)} later. That time is not counted.`}>
          <Icon name="retry" size={12} />
          tried again{reopened > 1 && ` ${reopened} times`}
        </span>
      )}
      {forked_from && (
        <span className="chip">
          <Icon name="fork" size={12} />
          <span className="faint">forked from</span>
          <Link className="text" to={`/runs/${encodeURIComponent(forked_from)}`} title={forked_from}>
            {shortId(forked_from)}
          </Link>
          <span className="faint">after event {forked_at}</span>
          <Link
            className="text"
            to={`/compare?a=${encodeURIComponent(forked_from)}&b=${encodeURIComponent(id)}`}
            aria-label={`Compare with ${forked_from}`}
          >
            compare
          </Link>
        </span>
      )}
    </>
  );
}

const FEW = 4;

function Family({ run }: { run: Run }) {
  // A child that starts or ends is an event of the parent, and brings a new `run`.
  const children = useResource<RunPage>(`/runs?parent=${encodeURIComponent(run.id)}&limit=${FEW + 1}`);
  const found = children.data?.runs ?? [];
  return (
    <>
      {run.parent && (
        <Link
          className="chip"
          to={`/runs/${encodeURIComponent(run.parent)}?node=${encodeURIComponent(run.parent_node ?? "")}`}
        >
          <Icon name="parent" size={12} />
          <span className="faint">parent</span>
          {shortId(run.parent)}
        </Link>
      )}
      {found.slice(0, FEW).map((child) => (
        <Link
          key={child.id}
          className="chip"
          to={`/runs/${encodeURIComponent(child.id)}`}
          title={`Child run ${child.id}`}
        >
          <Icon name="child" size={12} />
          <StatusIcon status={shownStatus(child)} size={12} />
          <span className="faint">{child.dialect}</span>
          {child.definition}
        </Link>
      ))}
      {found.length > FEW && (
        <Link className="chip" to={`/runs?parent=${encodeURIComponent(run.id)}`}>
          All child runs
        </Link>
      )}
    </>
  );
}
