/** The last look before a dead letter is tried again or given up. */

import { withQuery } from "../../api/namespace";
import type { DeadLetter } from "../../api/types";
import { Button } from "../../parts/Button";
import { CopyAs } from "../../parts/CopyAs";
import { type CopyAction, py, sh } from "../../parts/copy";
import { Dialog } from "../../parts/Dialog";
import { ErrorBox } from "../../parts/ErrorBox";
import { useSending } from "../approvals/sending";

export type Verdict = "retry" | "discard";

interface Props {
  letter: DeadLetter;
  verdict: Verdict;
  settle: (letter: DeadLetter, verdict: Verdict) => Promise<void>;
  onClose: () => void;
  reload: () => void;
}

export function settlePath(id: string, verdict: Verdict): string {
  return `/dlq/${encodeURIComponent(id)}/${verdict}`;
}

export function settleCopy({ id, namespace }: DeadLetter, verdict: Verdict): CopyAction {
  const elsewhere = namespace !== "default";
  return {
    method: "POST",
    path: withQuery(settlePath(id, verdict), { namespace: elsewhere ? namespace : undefined }),
    cli: `plait dlq ${verdict} ${sh(id)}${elsewhere ? ` -n ${sh(namespace)}` : ""}`,
    python: `await engine.dlq.${verdict}(${py(id)}${elsewhere ? `, namespace=${py(namespace)}` : ""})`,
  };
}

export function Settle({ letter, verdict, settle, onClose, reload }: Props) {
  const { busy, error, send } = useSending();
  const again = verdict === "retry";
  return (
    <Dialog
      title={again ? "Retry this task?" : "Discard this task?"}
      onClose={onClose}
      // Settled by someone else, when it fails: the list knows.
      onSubmit={() => send(() => settle(letter, verdict), reload)}
      footer={
        <>
          <CopyAs up action={settleCopy(letter, verdict)} />
          <span className="grow" />
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look={again ? "primary" : "danger"} busy={busy} data-autofocus>
            {again ? "Retry" : "Discard"}
          </Button>
        </>
      }
    >
      <p>
        <strong>{letter.label || letter.node}</strong> of run <code>{letter.run_id}</code>
      </p>
      <p className="muted">
        {again
          ? "The task runs again with a new set of attempts and the same idempotency key. A run that failed because of it continues."
          : "The task will not run again. A compensation that stopped at it continues without it. This can't be undone."}
      </p>
      {error && <ErrorBox error={error} title="Request failed" />}
    </Dialog>
  );
}
