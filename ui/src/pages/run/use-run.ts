/**
 * What the run page shows: the run as it is, kept fresh by its live events, or as it was after event `at`.
 * Events only say that something changed; the picture itself is the server's.
 */

import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiProblem, api } from "../../api/client";
import { type LiveEvents, useLiveEvents } from "../../api/live";
import { currentNamespace } from "../../api/namespace";
import type { Event, EventPage, RunDetail } from "../../api/types";
import { asProblem } from "../../api/use-resource";
import { usePoll } from "../../shell/use-poll";

export interface RunState {
  /** As it is now. */
  now: RunDetail | undefined;
  /** What to show: now, or the past that was asked for. */
  shown: RunDetail | undefined;
  /** The event that the past is shown at. */
  point: Event | undefined;
  problem: ApiProblem | undefined;
  live: LiveEvents;
  /** After the run was told something: what follows from it takes a moment. */
  told: () => void;
}

export function runPath(id: string, rest = ""): string {
  return `/runs/${encodeURIComponent(id)}${rest}`;
}

export function useRun(id: string, at: number | undefined, allEvents: boolean): RunState {
  const { detail, problem, reload } = useDetail(id);
  const first = useRef<{ id: string; seq: number }>(undefined);
  if (detail && first.current?.id !== id) first.current = { id, seq: detail.seq };
  const loaded = detail !== undefined;
  const after = allEvents ? 0 : (first.current?.seq ?? 0);
  const [turn, setTurn] = useState(0);
  const live = useLiveEvents(loaded ? id : undefined, after, turn);

  const newest = live.events.at(-1)?.seq ?? 0;
  const behind = detail !== undefined && newest > detail.seq;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new event while behind asks again
  useEffect(() => {
    if (behind) reload();
  }, [behind, newest, reload]);
  // Not everything is an event: a run gets blocked, a worker goes away.
  const running = detail?.run.status === "running";
  usePoll(reload, running ? 5000 : 30_000);
  const ended = live.ended !== undefined;
  useEffect(() => {
    if (ended) reload();
  }, [ended, reload]);
  // An ended run was reopened: subscribe to its events again. Not at once: the picture may just be late.
  const reopened = running && ended;
  useEffect(() => {
    if (!reopened) return;
    const timer = window.setTimeout(() => setTurn((n) => n + 1), 1500);
    return () => window.clearTimeout(timer);
  }, [reopened]);

  const past = usePast(id, at);
  // Until the past has come the present stays: taking the page away would take the focus from the slider.
  const shown = at === undefined ? detail : (past.detail ?? detail);
  const told = () => {
    for (const delay of [0, 300, 1000, 3000]) window.setTimeout(reload, delay);
  };
  return { now: detail, shown, point: past.point, problem: problem ?? past.problem, live, told };
}

interface Found {
  key: string;
  detail?: RunDetail;
  point?: Event;
  problem?: ApiProblem;
}

/** The run now. Asking while an answer is awaited means one more question after it, never several at once. */
function useDetail(id: string) {
  const key = `${currentNamespace() ?? ""} ${id}`;
  const [found, setFound] = useState<Found>({ key });
  const state = useRef({ busy: false, again: false, key });
  state.current.key = key;

  const reload = useCallback(() => {
    const { current } = state;
    if (current.busy) {
      current.again = true;
      return;
    }
    current.busy = true;
    current.again = false;
    const asked = current.key;
    api
      .get<RunDetail>(runPath(id))
      .then((detail) => asked === current.key && setFound({ key: asked, detail }))
      .catch((error: unknown) => {
        if (asked !== current.key) return;
        // What is on the page stays there: the server may only be away for a moment.
        setFound((old) => (old.key === asked && old.detail ? old : { key: asked, problem: asProblem(error) }));
      })
      .finally(() => {
        window.setTimeout(() => {
          current.busy = false;
          if (current.again) reload();
        }, 150);
      });
  }, [id]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another namespace is another run
  useEffect(() => {
    state.current.busy = false;
    reload();
  }, [key, reload]);

  const current = found.key === key ? found : undefined;
  return { detail: current?.detail, problem: current?.problem, reload };
}

/** The run as it was; the picture before stays until the next is there, so that dragging does not flicker. */
function usePast(id: string, at: number | undefined): Partial<Found> {
  const [found, setFound] = useState<Found>({ key: "" });
  useEffect(() => {
    if (at === undefined) {
      setFound({ key: "" });
      return;
    }
    const abort = new AbortController();
    const timer = window.setTimeout(() => {
      const { signal } = abort;
      Promise.all([
        api.get<RunDetail>(runPath(id, `?at=${at}`), { signal }),
        api.get<EventPage>(runPath(id, `/events?after=${at - 1}&limit=1`), { signal }),
      ])
        .then(([detail, { events }]) => setFound({ key: id, detail, point: events[0] }))
        .catch((error: unknown) => !abort.signal.aborted && setFound({ key: id, problem: asProblem(error) }));
    }, 60);
    return () => {
      window.clearTimeout(timer);
      abort.abort();
    };
  }, [id, at]);
  return found.key === id ? found : {};
}
