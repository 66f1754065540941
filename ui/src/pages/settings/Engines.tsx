/** The engines on the database: what each owns, and how far behind they are. */

import type { FleetOverview } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";

export function Engines() {
  const { data, error, reload } = useResource<FleetOverview>("/fleet", { namespace: null });
  return (
    <section className="stack tight" aria-labelledby="engines">
      <header className="row">
        <h2 id="engines" className="grow">
          Engines
        </h2>
        <Button look="ghost" icon="retry" onClick={reload}>
          Refresh
        </Button>
      </header>
      {error && <ErrorBox error={error} />}
      {!data && !error && <Loading what="Loading the engines" />}
      {data && <Overview fleet={data} />}
    </section>
  );
}

function Overview({ fleet }: { fleet: FleetOverview }) {
  return (
    <>
      <dl className="card pad settings-facts">
        <dt>Shards</dt>
        <dd>
          {fleet.shards - fleet.unowned} of {fleet.shards} owned
        </dd>
        <dt>Waiting inputs</dt>
        <dd>
          {fleet.waiting}
          {fleet.waiting > 0 && <span className="faint"> oldest {seconds(fleet.oldest_waiting_ms)}</span>}
        </dd>
        <dt>Timer lag</dt>
        <dd>{seconds(fleet.timer_lag_ms)}</dd>
        {fleet.draining.length > 0 && (
          <>
            <dt>Draining</dt>
            <dd className="mono">{fleet.draining.join(", ")}</dd>
          </>
        )}
        {fleet.pools.map((pool) => (
          <Pool key={pool.code} {...pool} />
        ))}
      </dl>
      {fleet.engines.length === 0 ? (
        <Empty title="No engine is working">Runs wait until one is started.</Empty>
      ) : (
        <Owners engines={fleet.engines} />
      )}
    </>
  );
}

function Pool({ code, runs, engines }: FleetOverview["pools"][number]) {
  return (
    <>
      <dt className="mono">{code}</dt>
      <dd>
        {runs === 1 ? "1 run" : `${runs} runs`},{" "}
        {engines === 0 ? "no engine has this code" : `code on ${engines === 1 ? "1 engine" : `${engines} engines`}`}
      </dd>
    </>
  );
}

function Owners({ engines }: Pick<FleetOverview, "engines">) {
  return (
    <div className="card settings-scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Engine</th>
            <th scope="col">Shards</th>
            <th scope="col">Pool shards</th>
          </tr>
        </thead>
        <tbody>
          {engines.map((engine) => (
            <tr key={engine.name}>
              <td className="mono">{engine.name}</td>
              <td>{engine.shards}</td>
              <td>{engine.pool_shards}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
