/** One run, of any dialect: what it is, why it waits, what can be done, and its pictures. */

import { useState } from "react";
import type { RunDetail } from "../../api/types";
import { Empty } from "../../parts/Empty";
import { ErrorBox } from "../../parts/ErrorBox";
import { FrozenTime } from "../../parts/Time";
import { useKey } from "../../shell/keys";
import { later } from "../../shell/later";
import { type PageProps, useTitle } from "../../shell/page";
import { Loading } from "../../shell/plain";
import { Link, location, useQuery } from "../../shell/router";
import { ActionDialog } from "./actions/ActionDialog";
import type { Asked } from "./actions/describe";
import { Header } from "./Header";
import { InOut } from "./InOut";
import { Inspector } from "./Inspector";
import { Logs } from "./Logs";
import { PastBanner, TimeSlider } from "./TimeSlider";
import { type Tab, TabBar, tabOf } from "./tabs";
import { type RunState, useRun } from "./use-run";
import { Waiting } from "./Waiting";
import "./run.css";

const Graph = later(() => import("./graph/Graph"));
const Timeline = later(() => import("./timeline/Timeline"));
const Events = later(() => import("./events/Events"));
const Attributes = later(() => import("./goals/Attributes"));
const PlanDiff = later(() => import("./goals/PlanDiff"));
// The first picture of nearly everyone: fetched along with the page, not after it.
if (tabOf(new URLSearchParams(location().search).get("tab")) === "graph") void Graph.preload();

export default function RunPage({ params }: PageProps) {
  const id = params.id ?? "";
  useTitle(id);
  const [query, setQuery] = useQuery();
  const tab = tabOf(query.get("tab"));
  const at = pointOf(query.get("at"));
  const run = useRun(id, at, tab === "events");
  useKey("l", () => setQuery({ at: undefined }), { label: "Back to now", group: "Run", enabled: at !== undefined });
  if (run.problem && !run.shown) return <Missing id={id} run={run} />;
  if (!run.now || !run.shown) return <Loading what="Loading the run" />;
  return <Shown id={id} tab={tab} at={at} run={run} now={run.now} shown={run.shown} />;
}

function Missing({ id, run }: { id: string; run: RunState }) {
  if (!run.problem) return null;
  return (
    <div className="page">
      {run.problem.status === 404 ? (
        <Empty
          icon="search"
          title={`There is no run ${id}`}
          action={
            <Link className="text" to="/runs">
              Go to the runs
            </Link>
          }
        >
          It may be in another namespace, or its history was removed.
        </Empty>
      ) : (
        <ErrorBox error={run.problem} />
      )}
    </div>
  );
}

interface ShownProps {
  id: string;
  tab: Tab;
  at: number | undefined;
  run: RunState;
  now: RunDetail;
  shown: RunDetail;
}

function Shown({ id, tab, at, run, now, shown }: ShownProps) {
  const [query, setQuery] = useQuery();
  const [asked, setAsked] = useState<Asked>();
  const nodeId = query.get("node") ?? undefined;
  const node = shown.view.nodes.find((one) => one.id === nodeId);
  const select = (next: string | undefined) => setQuery({ node: next });
  const past = at !== undefined;
  const { details } = shown.view;
  const withSlider = tab === "graph" || tab === "events" || tab === "attributes" || tab === "plan";
  return (
    <div className="run">
      <Header detail={now} shown={shown} past={past} onAction={setAsked} />
      {past ? (
        <PastBanner
          at={at}
          point={run.point}
          last={now.seq}
          onFork={now.actions.includes("fork") ? () => setAsked({ action: "fork", at }) : undefined}
          onLive={() => setQuery({ at: undefined })}
        />
      ) : (
        <Waiting detail={now} onNode={(one) => setQuery({ node: one })} onAction={setAsked} />
      )}
      <TabBar tab={tab} goals={details !== undefined} />
      {withSlider && <TimeSlider at={at} last={now.seq} onAt={(next) => setQuery({ at: next })} />}
      <FrozenTime value={past ? run.point?.at : undefined}>
        <div className={node && tab !== "io" ? "run-body with-side" : "run-body"}>
          <div className="run-main">
            {tab === "graph" && <Graph view={shown.view} selected={nodeId} onSelect={select} />}
            {tab === "timeline" && (
              <Timeline id={id} seq={now.seq} status={now.run.status} selected={nodeId} onSelect={select} />
            )}
            {tab === "events" && <Events id={id} live={run.live} at={at} />}
            {tab === "logs" && <Logs id={id} seq={now.seq} running={now.run.status === "running"} view={now.view} />}
            {tab === "attributes" && details && <Attributes details={details} onNode={select} />}
            {tab === "plan" && details && <PlanDiff detail={shown} details={details} onNode={select} />}
            {(tab === "attributes" || tab === "plan") && !details && (
              <Empty title="This run has no attributes">Only runs of goals have attributes and a plan.</Empty>
            )}
            {tab === "io" && <InOut detail={shown} />}
          </div>
          {node && tab !== "io" && (
            <Inspector node={node} detail={now} past={at} onAction={setAsked} onClose={() => select(undefined)} />
          )}
        </div>
      </FrozenTime>
      {asked && <ActionDialog asked={asked} detail={now} onClose={() => setAsked(undefined)} onDone={run.told} />}
    </div>
  );
}

function pointOf(text: string | null): number | undefined {
  const point = Number(text);
  return text !== null && Number.isInteger(point) && point > 0 ? point : undefined;
}
