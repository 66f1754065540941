import type { DeadLetter } from "../../api/types";
import { Button } from "../../parts/Button";
import { ErrorBox } from "../../parts/ErrorBox";
import { Ago } from "../../parts/Time";
import { Link } from "../../shell/router";
import type { Verdict } from "./Settle";

interface Props {
  letter: DeadLetter;
  may: boolean;
  onSettle: (verdict: Verdict) => void;
}

export function Letter({ letter, may, onSettle }: Props) {
  const { run_id, node, label, attempts, error, at, status } = letter;
  const name = label || node;
  return (
    <article className="card letter" aria-label={`${name} of ${run_id}`}>
      <header className="letter-head">
        <div className="grow">
          <h2 className="clip" title={node}>
            {name}
          </h2>
          <p className="letter-facts muted">
            <span>
              run{" "}
              <Link className="mono" to={`/runs/${encodeURIComponent(run_id)}?node=${encodeURIComponent(node)}`}>
                {run_id}
              </Link>
            </span>
            <span>
              {attempts} {attempts === 1 ? "attempt" : "attempts"}
            </span>
            <Ago at={at} />
            {status !== "pending" && <span className="chip">{status}</span>}
          </p>
        </div>
        {status === "pending" && may && (
          <div className="row">
            <Button icon="retry" onClick={() => onSettle("retry")} aria-label={`Retry ${name}`}>
              Retry
            </Button>
            <Button look="danger" icon="trash" onClick={() => onSettle("discard")} aria-label={`Discard ${name}`}>
              Discard
            </Button>
          </div>
        )}
      </header>
      <ErrorBox error={error} />
    </article>
  );
}
