/** The last look before a dead letter is tried again or given up. */

import { withQuery } from "../../api/namespace";
import type { DeadLetter } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { CodeText } from "../../components/CodeText";
import { CopyAs } from "../../components/CopyAs";
import { type CopyAction, py, sh } from "../../components/copy";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";

export type Resolution = "retry" | "discard";

interface Props {
  letter: DeadLetter;
  resolution: Resolution;
  resolve: (letter: DeadLetter, resolution: Resolution) => Promise<void>;
  onClose: () => void;
  reload: () => void;
}

export function resolvePath(id: string, resolution: Resolution): string {
  return `/dlq/${encodeURIComponent(id)}/${resolution}`;
}

export function resolveCopy({ id, namespace }: DeadLetter, resolution: Resolution): CopyAction {
  const elsewhere = namespace !== "default";
  return {
    method: "POST",
    path: withQuery(resolvePath(id, resolution), { namespace: elsewhere ? namespace : undefined }),
    cli: `plait dlq ${resolution} ${sh(id)}${elsewhere ? ` -n ${sh(namespace)}` : ""}`,
    python: `await engine.dlq.${resolution}(${py(id)}${elsewhere ? `, namespace=${py(namespace)}` : ""})`,
  };
}

export function ResolveDialog({ letter, resolution, resolve, onClose, reload }: Props) {
  const { busy, error, send } = useRequest();
  const again = resolution === "retry";
  return (
    <Dialog
      title={again ? "Retry this task?" : "Discard this task?"}
      onClose={onClose}
      // Settled by someone else, when it fails: the list knows.
      onSubmit={() => send(() => resolve(letter, resolution), reload)}
      footer={
        <>
          <CopyAs up action={resolveCopy(letter, resolution)} />
          <span className="grow" />
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look={again ? "primary" : "danger"} busy={busy} data-autofocus>
            {again ? "Retry" : "Discard"}
          </Button>
        </>
      }
    >
      <p>
        <strong>
          <CodeText text={letter.label || letter.node} />
        </strong>{" "}
        of run <code>{letter.run_id}</code>
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
