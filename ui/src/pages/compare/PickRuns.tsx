/** Asks for the two runs, by id. */

import { useState } from "react";
import type { RunPage } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { TextField } from "../../components/Field";
import { Link } from "../../shell/router";

interface Props {
  a: string;
  b: string;
  onPick: (runs: { a: string; b: string }) => void;
}

export function PickRuns({ a: firstA, b: firstB, onPick }: Props) {
  const [a, setA] = useState(firstA);
  const [b, setB] = useState(firstB);
  const { data } = useResource<RunPage>("/runs?limit=50");
  const ready = a.trim() !== "" && b.trim() !== "";
  return (
    <form
      className="card pad stack compare-pick"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) onPick({ a: a.trim(), b: b.trim() });
      }}
    >
      <h2>Choose two runs</h2>
      <p className="muted">
        Enter their IDs, or select two in the <Link to="/runs">list of runs</Link> and choose Compare.
      </p>
      <TextField label="Run A" list="compare-runs" autoFocus value={a} onChange={(event) => setA(event.target.value)} />
      <TextField label="Run B" list="compare-runs" value={b} onChange={(event) => setB(event.target.value)} />
      <datalist id="compare-runs">
        {data?.runs.map((run) => (
          <option key={run.id} value={run.id}>
            {run.definition} {run.status}
          </option>
        ))}
      </datalist>
      <div>
        <Button type="submit" look="primary" icon="compare" disabled={!ready}>
          Compare
        </Button>
      </div>
    </form>
  );
}
