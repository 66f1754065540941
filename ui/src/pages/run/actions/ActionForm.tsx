/** The frame of every action's dialog: confirm sends the request, which can also be copied for other tools. */

import { type ReactNode, useState } from "react";
import { api } from "../../../api/client";
import type { RunDetail } from "../../../api/types";
import { asProblem } from "../../../api/use-resource";
import { Button } from "../../../components/Button";
import { CopyAs } from "../../../components/CopyAs";
import type { CopyAction } from "../../../components/copy";
import { Dialog } from "../../../components/Dialog";
import { ErrorBox } from "../../../components/ErrorBox";
import { toast } from "../../../shell/toasts";

export interface ActionProps {
  detail: RunDetail;
  onClose: () => void;
  onDone: () => void;
}

interface FormProps<T> extends ActionProps {
  title: string;
  /** Undefined while something is missing. */
  action: CopyAction | undefined;
  confirm: string;
  danger?: boolean;
  done: (answer: T) => string;
  then?: (answer: T) => void;
  children: ReactNode;
}

export function ActionForm<T>({ title, action, confirm, danger, done, then, onClose, onDone, children }: FormProps<T>) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ReturnType<typeof asProblem>>();
  const submit = async () => {
    if (!action || busy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const answer = await api.post<T>(action.path, action.body, { namespace: null });
      toast({ kind: "ok", text: done(answer) });
      onClose();
      onDone();
      then?.(answer);
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          {action && <CopyAs action={action} up />}
          <span className="grow" />
          <Button onClick={onClose}>Close</Button>
          <Button look={danger ? "danger" : "primary"} type="submit" busy={busy} disabled={!action}>
            {confirm}
          </Button>
        </>
      }
    >
      {children}
      {problem && <ErrorBox error={problem} />}
    </Dialog>
  );
}
