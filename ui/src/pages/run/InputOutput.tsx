import type { RunDetail } from "../../api/types";
import { ErrorBox } from "../../components/ErrorBox";
import { Json } from "../../components/Json";

export function InputOutput({ detail }: { detail: RunDetail }) {
  const { run, input, output, view } = detail;
  const { status } = view;
  return (
    <div className="inout">
      <section className="stack tight">
        <h2>Input</h2>
        <Json value={input ?? null} label="input" />
      </section>
      <section className="stack tight">
        <h2>Output</h2>
        {status === "completed" ? (
          <Json value={output ?? null} label="output" />
        ) : (
          <p className="muted">
            {status === "running"
              ? "None yet: the run is still in progress."
              : `None: the run ${status === "failed" ? "failed" : "was cancelled"}.`}
          </p>
        )}
        {run.error && status !== "running" && <ErrorBox error={run.error} />}
      </section>
    </div>
  );
}
