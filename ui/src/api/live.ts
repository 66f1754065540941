/** Live lists: runs that match a filter, and the events of one run. Both survive lost connections without a gap. */

import { useEffect, useMemo, useRef, useState } from "react";
import type { ApiProblem } from "./client";
import { reportConnection } from "./connection";
import { currentNamespace, withQuery } from "./namespace";
import { type Connection, openStream } from "./sse";
import type { Event, Run, RunStatus } from "./types";

export interface RunFilter {
  q?: string;
  status?: string;
  dialect?: string;
  definition?: string;
  label?: string[];
  parent?: string;
  limit?: number;
}

export interface LiveRuns {
  /** Undefined until the first answer. */
  runs: Run[] | undefined;
  /** Runs that matched once and no longer do. */
  gone: ReadonlySet<string>;
  /** Counts the snapshots: a new one starts the list afresh. */
  snapshot: number;
  connection: Connection;
  problem: ApiProblem | undefined;
}

interface Changes {
  runs?: Run[];
  gone?: string[];
}

interface RunsState {
  key: string;
  runs?: Run[];
  gone: ReadonlySet<string>;
  snapshot: number;
  problem?: ApiProblem;
}

export function useLiveRuns(filter: RunFilter): LiveRuns {
  const path = withQuery("/runs", { ...filter });
  const key = `${currentNamespace() ?? ""} ${path}`;
  const [state, setState] = useState<RunsState>(() => noRuns(key));
  const [connection, setConnection] = useState<Connection>("connecting");

  useEffect(() => {
    const stop = openStream(path, undefined, {
      message: ({ event, data }) => setState((old) => heard(old.key === key ? old : noRuns(key), event, data)),
      connection: (now) => {
        setConnection(now);
        reportConnection(now);
      },
      problem: (problem) => setState({ ...noRuns(key), problem }),
    });
    return () => {
      stop();
      reportConnection(undefined);
    };
  }, [key, path]);

  const { runs, gone, snapshot, problem } = state.key === key ? state : noRuns(key);
  return { runs, gone, snapshot, connection, problem };
}

function noRuns(key: string): RunsState {
  return { key, gone: new Set(), snapshot: 0 };
}

function heard(old: RunsState, event: string, data: string): RunsState {
  if (event === "snapshot") {
    const { runs = [] } = JSON.parse(data) as Changes;
    return { key: old.key, runs, gone: new Set(), snapshot: old.snapshot + 1 };
  }
  if (event !== "changes") return old;
  const changes = JSON.parse(data) as Changes;
  const gone = new Set([...old.gone, ...(changes.gone ?? [])]);
  for (const run of changes.runs ?? []) gone.delete(run.id);
  return { ...old, gone, runs: applyChanges(old.runs ?? [], changes) };
}

/** Newest first, each run once. */
export function applyChanges(runs: readonly Run[], changes: Changes): Run[] {
  const gone = new Set(changes.gone);
  const changed = new Map((changes.runs ?? []).map((run) => [run.id, run]));
  const kept = runs.filter((run) => !gone.has(run.id)).map((run) => take(changed, run.id) ?? run);
  return [...changed.values(), ...kept].sort(newestFirst);
}

function take(changed: Map<string, Run>, id: string): Run | undefined {
  const run = changed.get(id);
  changed.delete(id);
  return run;
}

function newestFirst(a: Run, b: Run): number {
  return b.created_at - a.created_at || (a.id < b.id ? 1 : -1);
}

export interface LiveEvents {
  /** In order, each number once, starting after `after`. */
  events: Event[];
  connection: Connection;
  ended: RunStatus | undefined;
  problem: ApiProblem | undefined;
}

/** The events of a run after number `after`; without a `runId` nothing is fetched; a new `turn` reconnects. */
export function useLiveEvents(runId: string | undefined, after = 0, turn = 0): LiveEvents {
  const key = `${currentNamespace() ?? ""} ${runId ?? ""} ${after}`;
  const [heard, setHeard] = useState<{ key: string; log: EventLog }>({ key, log: emptyLog(after) });
  const [connection, setConnection] = useState<Connection>("connecting");
  const [ended, setEnded] = useState<RunStatus>();
  const [problem, setProblem] = useState<ApiProblem>();
  const log = heard.key === key ? heard.log : emptyLog(after);
  const last = useRef(after);
  last.current = log.last;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds the namespace too, and a turn listens again
  useEffect(() => {
    setEnded(undefined);
    setProblem(undefined);
    if (runId === undefined) return;
    let waiting: Event[] = [];
    let timer: number | undefined;
    // A burst of events is one update of the page, not one each.
    const flush = () => {
      window.clearTimeout(timer);
      timer = undefined;
      const batch = waiting;
      waiting = [];
      setHeard((old) => ({ key, log: append(old.key === key ? old.log : emptyLog(after), batch) }));
    };
    const stop = openStream(`/runs/${encodeURIComponent(runId)}/events?after=${last.current}`, undefined, {
      message: ({ event, data }) => {
        if (event === "end") {
          flush();
          setEnded((JSON.parse(data) as { status: RunStatus }).status);
        }
        if (event !== "message") return;
        waiting.push(JSON.parse(data) as Event);
        timer ??= window.setTimeout(flush, 50);
      },
      connection: (now) => {
        setConnection(now);
        reportConnection(now === "ended" ? undefined : now);
      },
      problem: setProblem,
    });
    return () => {
      stop();
      window.clearTimeout(timer);
      reportConnection(undefined);
    };
  }, [key, turn]);

  const { events } = log;
  return useMemo(() => ({ events, connection, ended, problem }), [events, connection, ended, problem]);
}

export interface EventLog {
  last: number;
  events: Event[];
}

export function emptyLog(after: number): EventLog {
  return { last: after, events: [] };
}

/** Adds what is newer than the last; what was seen before changes nothing. */
export function append(log: EventLog, batch: readonly Event[]): EventLog {
  const fresh: Event[] = [];
  let last = log.last;
  for (const event of batch) {
    if (event.seq <= last) continue;
    fresh.push(event);
    last = event.seq;
  }
  return fresh.length ? { last, events: log.events.concat(fresh) } : log;
}
