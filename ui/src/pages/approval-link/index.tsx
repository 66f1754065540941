/** What a person without an account gets from a signed link: the approval, the form, and one decision. */

import { type ReactNode, useState } from "react";
import { type ApiProblem, api } from "../../api/client";
import type { Decided, LinkedApproval } from "../../api/types";
import { asProblem, useResource } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { TextField } from "../../components/Field";
import { Loading } from "../../shell/fallbacks";
import { type PageProps, useTitle } from "../../shell/page";
import { ApprovalDetail } from "../approvals/ApprovalDetail";
import { DecisionForm } from "../approvals/DecisionForm";
import type { Decision } from "../approvals/decision";
import { outcome } from "../approvals/voting";
import "../approvals/approvals.css";
import "./approval-link.css";

export default function Approve({ params }: PageProps) {
  useTitle("Decide");
  const path = `/links/${encodeURIComponent(params.token ?? "")}`;
  const { data, error, reload } = useResource<LinkedApproval>(path, { namespace: null });
  const [done, setDone] = useState<Decided>();
  const [late, setLate] = useState<ApiProblem>();
  if (done)
    return (
      <Frame>
        <Thanks decided={done} />
      </Frame>
    );
  if (error && !data)
    return (
      <Frame>
        <Refused error={error} retry={reload} />
      </Frame>
    );
  if (late)
    return (
      <Frame>
        <Refused error={late} retry={reload} />
      </Frame>
    );
  if (!data) return <Loading what="Loading the approval" />;
  return (
    <Frame>
      <Asked path={path} approval={data} onDone={setDone} onLate={setLate} />
    </Frame>
  );
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <main className="approve">
      <div className="approve-brand">
        <img src="/icon.svg" alt="" width={24} height={24} />
        Plait
      </div>
      {children}
    </main>
  );
}

interface AskedProps {
  path: string;
  approval: LinkedApproval;
  onDone: (decided: Decided) => void;
  /** The link was used, or ran out, while the page was open. */
  onLate: (error: ApiProblem) => void;
}

function Asked({ path, approval, onDone, onLate }: AskedProps) {
  const [name, setName] = useState("");
  const send = async ({ decision, comment, data }: Decision) => {
    const body = { decision, by: name || undefined, comment: comment || undefined, data };
    let decided: Decided;
    try {
      decided = await api.post<Decided>(path, body, { namespace: null });
    } catch (thrown) {
      const problem = asProblem(thrown);
      if (![404, 409, 410].includes(problem.status)) throw problem;
      onLate(problem);
      return;
    }
    onDone(decided);
  };
  return (
    <div className="card pad stack">
      <ApprovalDetail approval={approval} linked={false} />
      {approval.status === "open" ? (
        <DecisionForm approval={approval} send={send}>
          {approval.voter ? (
            <p className="muted">You vote as {approval.voter}.</p>
          ) : (
            <TextField
              label="Your name"
              hint="Stored with the decision."
              autoComplete="name"
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </DecisionForm>
      ) : (
        <div className="notice" role="status">
          <strong>No longer open.</strong> {outcome(approval)}.
        </div>
      )}
    </div>
  );
}

function Thanks({ decided: { decision, remaining = 0 } }: { decided: Decided }) {
  const next =
    remaining > 0 ? `Your vote counts; ${remaining} more must approve.` : "The run continues with your decision.";
  return (
    <div className="card pad" role="status">
      <Empty icon="check" title={decision === "approve" ? "Approved. Thank you." : "Rejected. Thank you."}>
        {next} This link can't be used again; you can close this page.
      </Empty>
    </div>
  );
}

function Refused({ error, retry }: { error: ApiProblem; retry: () => void }) {
  if (error.status === 410 || error.status === 409 || error.code === "kernel.no_approval") {
    return (
      <div className="card pad">
        <Empty icon="clock" title="This link no longer works">
          The approval was decided, or the link has expired. If a decision is still needed, ask the sender for a new
          link.
          <Told error={error} />
        </Empty>
      </div>
    );
  }
  if (error.status === 404 || error.status === 401 || error.status === 403) {
    return (
      <div className="card pad">
        <Empty icon="warning" title="This link is not valid">
          It may be incomplete or mistyped. Copy the whole link again, or ask the sender for a new one.
          <Told error={error} />
        </Empty>
      </div>
    );
  }
  return (
    <ErrorBox error={error}>
      <Button onClick={retry}>Try again</Button>
    </ErrorBox>
  );
}

function Told({ error }: { error: ApiProblem }) {
  return (
    <span className="approve-told faint">
      {error.problem.title} <code>{error.code}</code>
    </span>
  );
}
