import type { DeadLetter } from "../../api/types";
import { Button } from "../../components/Button";
import { CodeText } from "../../components/CodeText";
import { ErrorBox } from "../../components/ErrorBox";
import { Ago } from "../../components/Time";
import { Link } from "../../shell/router";
import type { Resolution } from "./ResolveDialog";

interface Props {
  letter: DeadLetter;
  may: boolean;
  onResolve: (resolution: Resolution) => void;
}

export function DeadLetterCard({ letter, may, onResolve }: Props) {
  const { run_id, node, label, attempts, error, at, status } = letter;
  const name = label || node;
  return (
    <article className="card letter" aria-label={`${name} of ${run_id}`}>
      <header className="letter-head">
        <div className="grow">
          <h2 className="clip" title={node}>
            <CodeText text={name} />
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
            <Button icon="retry" onClick={() => onResolve("retry")} aria-label={`Retry ${name}`}>
              Retry
            </Button>
            <Button look="danger" icon="trash" onClick={() => onResolve("discard")} aria-label={`Discard ${name}`}>
              Discard
            </Button>
          </div>
        )}
      </header>
      <ErrorBox error={error} />
    </article>
  );
}
