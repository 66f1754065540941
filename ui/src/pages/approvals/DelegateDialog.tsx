/** An approver hands their vote to someone else, who then decides instead. */

import { useState } from "react";
import { api } from "../../api/client";
import { withQuery } from "../../api/namespace";
import type { Approval } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { type CopyAction, py, sh } from "../../components/copy";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { SelectField, TextField } from "../../components/Field";
import { useMe } from "../../shell/me";
import { toast } from "../../shell/toasts";

interface Props {
  approval: Approval;
  onClose: () => void;
  onDone: () => void;
}

export interface Delegation {
  to: string;
  by?: string;
  comment: string;
}

export function DelegateDialog({ approval, onClose, onDone }: Props) {
  const me = useMe();
  const { approvers = [] } = approval;
  // Where nobody signs in, or for an admin, it may be anyone's vote.
  const chooses = me.mode === "open" || (me.role === "admin" && !approvers.includes(me.name));
  const [to, setTo] = useState("");
  const [by, setBy] = useState(chooses ? (approvers[0] ?? "") : "");
  const [comment, setComment] = useState("");
  const { busy, error, send } = useRequest();
  const asked = { to: to.trim(), by: by || undefined, comment };
  const submit = () =>
    send(async () => {
      const body = { ...asked, comment: comment || undefined };
      await api.post(delegatePath(approval.id), body, { namespace: approval.namespace });
      toast({ kind: "ok", text: `Delegated to ${asked.to}` });
      onDone();
    });
  return (
    <Dialog
      title="Delegate"
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <CopyAs up action={delegationCopy(approval, asked)} />
          <span className="grow" />
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look="primary" busy={busy}>
            Delegate
          </Button>
        </>
      }
    >
      <p className="muted">Someone else decides instead. This is recorded with the approval.</p>
      {chooses && (
        <SelectField label="Whose vote" value={by} onChange={(event) => setBy(event.target.value)}>
          {approvers.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      )}
      <TextField label="To" required maxLength={200} value={to} onChange={(event) => setTo(event.target.value)} />
      <TextField
        label="Comment"
        hint="Such as why, and until when."
        maxLength={1000}
        value={comment}
        onChange={(event) => setComment(event.target.value)}
      />
      {error && <ErrorBox error={error} title="Not delegated" />}
    </Dialog>
  );
}

function delegatePath(id: string): string {
  return `/approvals/${encodeURIComponent(id)}/delegate`;
}

export function delegationCopy({ id, namespace }: Approval, { to, by, comment }: Delegation): CopyAction {
  const elsewhere = namespace !== "default";
  const flags = [
    by ? ` --by ${sh(by)}` : "",
    comment ? ` --comment ${sh(comment)}` : "",
    elsewhere ? ` -n ${sh(namespace)}` : "",
  ].join("");
  const named = [
    by ? `, by=${py(by)}` : "",
    comment ? `, comment=${py(comment)}` : "",
    elsewhere ? `, namespace=${py(namespace)}` : "",
  ].join("");
  return {
    method: "POST",
    path: withQuery(delegatePath(id), { namespace: elsewhere ? namespace : undefined }),
    body: { to, by, comment: comment || undefined },
    cli: `plait approve ${sh(id)} --delegate-to ${sh(to)}${flags}`,
    python: `await engine.approvals.delegate(${py(id)}, ${py(to)}${named})`,
  };
}
