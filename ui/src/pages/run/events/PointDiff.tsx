/** The state of the run at two points, as a difference. */

import { useMemo } from "react";
import type { Json, RunDetail } from "../../../api/types";
import { useResource } from "../../../api/use-resource";
import { IconButton } from "../../../components/Button";
import { ErrorBox } from "../../../components/ErrorBox";
import { Loading } from "../../../shell/fallbacks";
import { lazy } from "../../../shell/lazy";
import { runPath } from "../use-run";

const JsonDiff = lazy(async () => ({ default: (await import("../../../components/JsonDiff")).JsonDiff }));

interface PointDiffProps {
  id: string;
  a: number;
  b: number;
  onClose: () => void;
}

export function PointDiff({ id, a, b, onClose }: PointDiffProps) {
  const first = useResource<RunDetail>(runPath(id, `?at=${a}`));
  const second = useResource<RunDetail>(runPath(id, `?at=${b}`));
  const states = useMemo(
    () => first.data && second.data && ([stateOf(first.data), stateOf(second.data)] as const),
    [first.data, second.data],
  );
  const error = first.error ?? second.error;
  return (
    <section className="point-diff card" aria-label={`The run after event ${a} and after event ${b}`}>
      <div className="row">
        <h2>
          After event {a} → after event {b}
        </h2>
        <span className="grow" />
        <IconButton icon="close" className="small" label="Close the comparison" onClick={onClose} />
      </div>
      {error && <ErrorBox error={error} />}
      {!states && !error && <Loading what="Loading both states" />}
      {states && <JsonDiff a={states[0]} b={states[1]} />}
    </section>
  );
}

/** What a person would call the state: nodes by name, not by their place in a list. */
export function stateOf(detail: RunDetail): Json {
  const { run, output, view, waiting = [] } = detail;
  const nodes = Object.fromEntries(view.nodes.map(({ id, ...node }) => [id, node]));
  const state = { status: run.status, output, error: run.error, waiting: waiting.map((one) => one.text), nodes };
  // Through JSON, so that what is undefined is absent.
  return JSON.parse(JSON.stringify(state)) as Json;
}
