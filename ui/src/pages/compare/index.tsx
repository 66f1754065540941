/** Two runs side by side: facts, input, output, and what each node did in both. */

import type { RunDetail, RunDiff } from "../../api/types";
import { type Resource, useResource } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { ErrorBox } from "../../components/ErrorBox";
import { JsonDiff } from "../../components/JsonDiff";
import { Loading } from "../../shell/fallbacks";
import { Page } from "../../shell/page";
import { useQuery } from "../../shell/router";
import { Nodes } from "./Nodes";
import { PickRuns } from "./PickRuns";
import { RunFacts } from "./RunFacts";
import "./compare.css";

export default function Compare() {
  const [query, setQuery] = useQuery();
  const a = query.get("a") ?? "";
  const b = query.get("b") ?? "";
  const picked = a !== "" && b !== "";
  return (
    <Page
      title="Compare"
      actions={
        picked && (
          <>
            <Button icon="compare" onClick={() => setQuery({ a: b, b: a })}>
              Swap
            </Button>
            <Button onClick={() => setQuery({ a: undefined, b: undefined }, { push: true })}>Other runs</Button>
          </>
        )
      }
    >
      {picked ? <Compared a={a} b={b} /> : <PickRuns a={a} b={b} onPick={(next) => setQuery(next, { push: true })} />}
    </Page>
  );
}

function runPath(id: string): string {
  return `/runs/${encodeURIComponent(id)}`;
}

function Compared({ a, b }: { a: string; b: string }) {
  const { data, error, reload } = useResource<RunDiff>(`${runPath(a)}/diff?with=${encodeURIComponent(b)}`);
  const left = useResource<RunDetail>(runPath(a));
  const right = useResource<RunDetail>(runPath(b));
  if (error) {
    return (
      <ErrorBox error={error}>
        <Button onClick={reload}>Try again</Button>
      </ErrorBox>
    );
  }
  if (!data) return <Loading what="Loading both runs" />;
  return (
    <>
      <div className="compare-facts">
        <RunFacts side="A" run={data.a} other={data.b} />
        <RunFacts side="B" run={data.b} other={data.a} />
      </div>
      <Values left={left} right={right} diff={data} />
      <Nodes nodes={data.nodes} pauses={{ a: left.data?.view.pauses, b: right.data?.view.pauses }} />
    </>
  );
}

type Loaded = Pick<Resource<RunDetail>, "data" | "error">;

/** The whole values, so that a change is seen among what did not change. */
function Values({ left, right, diff }: { left: Loaded; right: Loaded; diff: RunDiff }) {
  const error = left.error ?? right.error;
  if (error) return <ErrorBox error={error} />;
  return (
    <div className="compare-values">
      {(["input", "output"] as const).map((part) => (
        <section key={part} className="stack tight" aria-label={part}>
          <h2>{part === "input" ? "Input" : "Output"}</h2>
          {(diff[part] ?? []).length === 0 && <p className="muted">No differences.</p>}
          {(diff[part] ?? []).length > 0 && left.data && right.data && (
            <JsonDiff a={left.data[part]} b={right.data[part]} />
          )}
        </section>
      ))}
    </div>
  );
}
