import type { ReactNode } from "react";
import type { Run } from "../../api/types";
import { Status, shownStatus } from "../../components/Status";
import { Ago, Duration } from "../../components/Time";
import { Link } from "../../shell/router";

/** The header facts of one run; what differs from the other one is marked. */
export function RunFacts({ side, run, other }: { side: "A" | "B"; run: Run; other: Run }) {
  const error = run.error ?? run.blocked;
  return (
    <section className="card compare-run" aria-label={`Run ${side}`}>
      <h2 className="row">
        <span className="compare-side">{side}</span>
        <Link className="text mono clip" to={`/runs/${encodeURIComponent(run.id)}`}>
          {run.id}
        </Link>
      </h2>
      <dl className="compare-list">
        <Fact name="Status" differs={shownStatus(run) !== shownStatus(other)}>
          <Status status={shownStatus(run)} />
        </Fact>
        <Fact name="Definition" differs={run.definition !== other.definition}>
          {run.definition} <span className="chip">{run.dialect}</span>
        </Fact>
        <Fact name="Version" differs={run.version !== other.version}>
          <span className="mono">{run.version?.slice(0, 16) ?? "none"}</span>
        </Fact>
        <Fact name="Started">
          <Ago at={run.created_at} />
        </Fact>
        <Fact name="Duration">
          <Duration from={run.created_at} to={run.ended_at} idle={run.idle_ms} />
        </Fact>
        {run.labels && (
          <Fact name="Labels" differs={JSON.stringify(run.labels) !== JSON.stringify(other.labels)}>
            {Object.entries(run.labels).map(([key, value]) => (
              <span key={key} className="chip">
                {key}:{value}
              </span>
            ))}
          </Fact>
        )}
        {run.cause && (
          <Fact name="Cause" differs={run.cause.text !== other.cause?.text}>
            {run.cause.text}
          </Fact>
        )}
        {error && (
          <Fact name="Error" differs={error.message !== (other.error ?? other.blocked)?.message}>
            <code>{error.code}</code> {error.message}
          </Fact>
        )}
      </dl>
    </section>
  );
}

function Fact({ name, differs = false, children }: { name: string; differs?: boolean; children: ReactNode }) {
  return (
    <div className={differs ? "differs" : undefined}>
      <dt>{name}</dt>
      <dd>
        {children}
        {differs && <span className="compare-differs">differs</span>}
      </dd>
    </div>
  );
}
