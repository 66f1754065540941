/** One run, of any dialect: what it is, why it is waiting, what can be done, and its tabs. */

import { type ReactNode, useMemo, useState } from "react";
import type { Node, RunDetail } from "../../api/types";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Json } from "../../components/Json";
import { FrozenTime } from "../../components/Time";
import { Loading } from "../../shell/fallbacks";
import { useKey } from "../../shell/keys";
import { lazy } from "../../shell/lazy";
import { type PageProps, useTitle } from "../../shell/page";
import { Link, location, useQuery } from "../../shell/router";
import { ActionDialog } from "./actions/ActionDialog";
import type { Asked } from "./actions/requests";
import { type Details, detailsOf } from "./details/details";
import { Header } from "./Header";
import { InputOutput } from "./InputOutput";
import { Inspector } from "./Inspector";
import { Logs } from "./Logs";
import { NoNodes } from "./NoNodes";
import { RootCause } from "./RootCause";
import { PastBanner, TimeSlider } from "./TimeSlider";
import { hasTab, type Tab, TabBar, tabOf } from "./tabs";
import { withTokens } from "./token-marks";
import { type RunState, useRun } from "./use-run";
import { WaitingReasons } from "./WaitingReasons";
import "./run.css";

const Graph = lazy(() => import("./graph/Graph"));
const Timeline = lazy(() => import("./timeline/Timeline"));
const Events = lazy(() => import("./events/Events"));
const Attributes = lazy(() => import("./details/Attributes"));
const PlanDiff = lazy(() => import("./details/PlanDiff"));
const Path = lazy(() => import("./details/Path"));
const Steps = lazy(() => import("./details/Steps"));
const Tree = lazy(() => import("./details/Tree"));
const SourcePane = lazy(() => import("./source/SourcePane"));
const Changes = lazy(() => import("./details/Changes"));
const Agents = lazy(() => import("./agents/Agents"));
// The tab that nearly everyone sees first: fetched along with the page, not after it.
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
          title={`Run ${id} not found`}
          action={
            <Link className="text" to="/runs">
              Go to runs
            </Link>
          }
        >
          It may be in another namespace, or its history was deleted.
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

/** What can be shown as it was at an earlier event. */
const WITH_SLIDER: ReadonlySet<Tab> = new Set<Tab>([
  "graph",
  "events",
  "tree",
  "path",
  "attributes",
  "plan",
  "details",
]);

function Shown({ id, tab, at, run, now, shown }: ShownProps) {
  const [query, setQuery] = useQuery();
  const [asked, setAsked] = useState<Asked>();
  const nodeId = query.get("node") ?? undefined;
  const node = nodeOf(shown.view.nodes, nodeId);
  const select = (next: string | undefined) => setQuery({ node: next });
  const past = at !== undefined;
  const details = detailsOf(shown.view);
  const view = useMemo(() => withTokens(shown.view), [shown.view]);
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
        <WaitingReasons detail={now} onNode={(one) => setQuery({ node: one })} onAction={setAsked} />
      )}
      <RootCause
        detail={shown}
        actions={past ? [] : now.actions}
        onNode={(one) => setQuery({ node: one, tab: undefined })}
        onAction={setAsked}
      />
      <TabBar tab={tab} details={details} />
      {WITH_SLIDER.has(tab) && <TimeSlider at={at} last={now.seq} onAt={(next) => setQuery({ at: next })} />}
      <FrozenTime value={past ? run.point?.at : undefined}>
        <div className={node && tab !== "io" ? "run-body with-side" : "run-body"}>
          <div className="run-main">
            {tab === "graph" && (
              <BesideSource
                id={id}
                source={details.source}
                nodes={shown.view.nodes}
                selected={nodeId}
                onSelect={select}
              >
                <Graph
                  view={view}
                  selected={nodeId}
                  onSelect={select}
                  empty={<NoNodes status={shown.view.status}>Nodes appear here as they start.</NoNodes>}
                />
              </BesideSource>
            )}
            {tab === "timeline" && (
              <Timeline
                id={id}
                seq={now.seq}
                status={now.run.status}
                pauses={now.view.pauses}
                selected={nodeId}
                onSelect={select}
              />
            )}
            {tab === "events" && <Events id={id} live={run.live} at={at} />}
            {tab === "logs" && <Logs id={id} seq={now.seq} running={now.run.status === "running"} view={now.view} />}
            {tab === "agents" && details.agents && <Agents detail={now} onNode={select} onDone={run.told} />}
            {!hasTab(tab, details) && <Empty title={`This run has no ${tab}`} />}
            {tab === "steps" && details.steps && (
              <Steps steps={details.steps} nodes={shown.view.nodes} onNode={select} />
            )}
            {tab === "tree" && details.tree && (
              <Tree
                tree={details.tree}
                iteration={details.iteration ?? 0}
                nodes={shown.view.nodes}
                selected={nodeId}
                onNode={select}
              />
            )}
            {tab === "path" && details.flow && <Path flow={details.flow} onNode={select} />}
            {tab === "changes" && hasTab(tab, details) && <Changes detail={now} onPatched={run.told} />}
            {tab === "attributes" && details.attributes && <Attributes details={details} onNode={select} />}
            {tab === "plan" && hasTab(tab, details) && <PlanDiff detail={shown} details={details} onNode={select} />}
            {tab === "details" && details.other && <Json value={details.other} label="details" />}
            {tab === "io" && <InputOutput detail={shown} />}
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

interface BesideSourceProps {
  id: string;
  source: Details["source"];
  nodes: readonly Node[];
  selected: string | undefined;
  onSelect: (id: string) => void;
  children: ReactNode;
}

/** The graph, and beside it the text that it comes from, where there is one. */
function BesideSource({ source, children, ...rest }: BesideSourceProps) {
  if (!source) return children;
  return (
    <div className="with-source">
      <SourcePane source={source} {...rest} />
      {children}
    </div>
  );
}

/** By its id; a child run knows the node that started it by its token. */
function nodeOf(nodes: readonly Node[], id: string | undefined): Node | undefined {
  if (id === undefined) return undefined;
  return nodes.find((node) => node.id === id) ?? nodes.find((node) => node.token === id);
}

function pointOf(text: string | null): number | undefined {
  const point = Number(text);
  return text !== null && Number.isInteger(point) && point > 0 ? point : undefined;
}
