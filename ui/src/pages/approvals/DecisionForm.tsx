/** The decision: the form that the approval brings, a comment, and yes or no with a last look before it is sent. */

import { type ReactNode, useState } from "react";
import type { ApiProblem } from "../../api/client";
import type { Approval } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { Field } from "../../components/Field";
import { Json } from "../../components/Json";
import { SchemaForm, useSchemaForm } from "../../components/SchemaForm";
import { schemaOf } from "../../components/SchemaFormModel";
import { within } from "../../components/SchemaFormProblems";
import { useKey } from "../../shell/keys";
import type { Decision } from "./decision";

interface Props {
  approval: Approval;
  /** Throws an ApiProblem when it was not taken. */
  send: (decision: Decision) => Promise<void>;
  /** Next to the buttons of the confirmation. */
  extra?: (decision: Decision) => ReactNode;
  /** Above the comment. */
  children?: ReactNode;
}

export function DecisionForm({ approval, send, extra, children }: Props) {
  const { form, hasForm, comment, setComment, asked, close, error, approve, reject, fail } = useDecision(approval);
  return (
    <div className="stack">
      {hasForm && <SchemaForm form={form} label="Answer" />}
      {children}
      <Field label="Comment" hint="Stored with the decision.">
        {(wired) => (
          <textarea
            className="input"
            rows={2}
            maxLength={10_000}
            value={comment}
            onChange={(event) => setComment(event.target.value)}
            {...wired}
          />
        )}
      </Field>
      {error && <ErrorBox error={error} title="Decision not saved" />}
      <div className="row wrap">
        <Button look="primary" icon="check" onClick={approve} title="Approve (a)">
          Approve
        </Button>
        <Button look="danger" icon="close" onClick={reject} title="Reject (r)">
          Reject
        </Button>
      </div>
      {asked && (
        <ConfirmDialog
          approval={approval}
          decision={asked}
          send={send}
          onClose={close}
          onFail={fail}
          extra={extra?.(asked)}
        />
      )}
    </div>
  );
}

function useDecision(approval: Approval) {
  const schema = schemaOf(approval.form);
  const hasForm = schema !== undefined;
  const form = useSchemaForm(schema);
  const [comment, setComment] = useState("");
  const [asked, setAsked] = useState<Decision>();
  const [error, setError] = useState<ApiProblem>();
  const ask = (decision: Decision) => {
    setError(undefined);
    setAsked(decision);
  };
  const approve = () => {
    const taken = hasForm ? form.take() : { value: undefined };
    if (taken) ask({ decision: "approve", comment, data: taken.value });
  };
  // A rejection needs no data: nothing uses it.
  const reject = () => ask({ decision: "reject", comment });
  useKey("a", approve, { label: "Approve", group: "Approvals", enabled: !asked });
  useKey("r", reject, { label: "Reject", group: "Approvals", enabled: !asked });
  const fail = (problem: ApiProblem) => {
    const errors = problem.problem.errors ?? [];
    setAsked(undefined);
    setError(problem);
    // The kernel points into the data; the check of the request body points into the body.
    if (hasForm) form.fail(problem.code === "kernel.bad_form" ? errors : within(errors, "/data").inside);
  };
  return { form, hasForm, comment, setComment, asked, close: () => setAsked(undefined), error, approve, reject, fail };
}

function consequence({ required = 1, votes = [] }: Approval, yes: boolean): string {
  const missing = required - votes.length - 1;
  if (!yes || missing <= 0) return "The run continues immediately.";
  return `The run continues when ${missing === 1 ? "one more person approves" : `${missing} more people approve`}.`;
}

interface ConfirmDialogProps {
  approval: Approval;
  decision: Decision;
  send: (decision: Decision) => Promise<void>;
  onClose: () => void;
  onFail: (problem: ApiProblem) => void;
  extra: ReactNode;
}

function ConfirmDialog({ approval, decision, send, onClose, onFail, extra }: ConfirmDialogProps) {
  const sending = useRequest();
  const yes = decision.decision === "approve";
  return (
    <Dialog
      title={yes ? "Approve?" : "Reject?"}
      onClose={onClose}
      onSubmit={() => sending.send(() => send(decision), onFail)}
      footer={
        <>
          {extra}
          <span className="grow" />
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look={yes ? "primary" : "danger"} busy={sending.busy} data-autofocus>
            {yes ? "Approve" : "Reject"}
          </Button>
        </>
      }
    >
      <p>{approval.title}</p>
      {decision.data !== undefined && <Json value={decision.data} label="answer" />}
      {decision.comment && <blockquote className="muted">{decision.comment}</blockquote>}
      <p className="muted">{consequence(approval, yes)} A decision can't be undone.</p>
    </Dialog>
  );
}
