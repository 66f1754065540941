/** One approval: what is asked, and the decision on it, to be made or made already. */

import { useState } from "react";
import { api } from "../../api/client";
import type { Approval, Decided } from "../../api/types";
import { Button } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { TextField } from "../../components/Field";
import { Ago } from "../../components/Time";
import { allows, useMe } from "../../shell/me";
import { Link, navigate } from "../../shell/router";
import { toast } from "../../shell/toasts";
import { ApprovalDetail } from "./ApprovalDetail";
import { approvalPath } from "./ApprovalList";
import { DecisionForm } from "./DecisionForm";
import { DelegateDialog } from "./DelegateDialog";
import { type Decision, decisionCopy, decisionPath } from "./decision";
import { ShareLink } from "./ShareLink";
import { countsVoters, obstacle, outcome } from "./voting";

interface Props {
  approval: Approval;
  open: boolean;
  next: string | undefined;
  reload: () => void;
  onDecided: () => void;
}

export function ChosenApproval({ approval, open, next, reload, onDecided }: Props) {
  const me = useMe();
  const [asked, setAsked] = useState<"share" | "delegate">();
  const may = allows(me, "approver");
  const close = () => setAsked(undefined);
  const actions = (
    <div className="row">
      {(approval.approvers ?? []).length > 0 && (
        <Button look="ghost" icon="right" onClick={() => setAsked("delegate")}>
          Delegate
        </Button>
      )}
      <Button look="ghost" icon="external" onClick={() => setAsked("share")}>
        Share link
      </Button>
    </div>
  );
  return (
    <div className="card pad stack">
      <ApprovalDetail approval={approval} actions={may && open && actions} />
      {!open ? (
        <Closed approval={approval} />
      ) : may ? (
        <Vote approval={approval} next={next} reload={reload} onDecided={onDecided} />
      ) : (
        <p className="muted">Your role is {me.role}. Deciding requires the approver or admin role.</p>
      )}
      {asked === "share" && <ShareLink approval={approval} onClose={close} />}
      {asked === "delegate" && (
        <DelegateDialog
          approval={approval}
          onClose={close}
          onDone={() => {
            close();
            reload();
          }}
        />
      )}
    </div>
  );
}

function Vote({ approval, next, reload, onDecided }: Omit<Props, "open">) {
  const me = useMe();
  const [name, setName] = useState("");
  const [round, setRound] = useState(0);
  const named = me.mode === "open" && countsVoters(approval);
  const obstructed = named ? undefined : obstacle(approval, me.name);
  if (obstructed) return <p className="muted">{obstructed}</p>;
  const by = named ? name : undefined;
  const send = async (decision: Decision) => {
    const { remaining = 0 } = await vote(approval, { ...decision, by }, reload);
    const word = decision.decision === "approve" ? "Approved" : "Rejected";
    toast({ kind: "ok", text: `${word}: ${approval.title}${remaining > 0 ? ` (${remaining} more needed)` : ""}` });
    reload();
    if (remaining > 0) {
      setRound(round + 1); // an empty form for the next person
      setName("");
      return;
    }
    onDecided();
    navigate(next === undefined ? "/approvals" : approvalPath(next), { replace: true });
  };
  return (
    <DecisionForm
      key={round}
      approval={approval}
      send={send}
      extra={(decision) => <CopyAs up action={decisionCopy(approval, { ...decision, by })} />}
    >
      {named && (
        <TextField
          label="Your name"
          hint="The vote is recorded under this name."
          autoComplete="name"
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      )}
    </DecisionForm>
  );
}

async function vote(approval: Approval, decision: Decision, reload: () => void): Promise<Decided> {
  const { comment, ...rest } = decision;
  const { evidence_hash } = approval; // it is about what was shown
  const body = { ...rest, by: decision.by || undefined, comment: comment || undefined, evidence_hash };
  try {
    return await api.post<Decided>(decisionPath(approval.id), body, { namespace: approval.namespace });
  } catch (thrown) {
    // Someone was faster, perhaps: the list knows.
    reload();
    throw thrown;
  }
}

function Closed({ approval }: { approval: Approval }) {
  return (
    <div className="notice" role="status">
      <strong>No longer open.</strong> {approval.status !== "open" && <Outcome approval={approval} />}{" "}
      <Link className="text" to={`/runs/${encodeURIComponent(approval.run_id)}`}>
        View run
      </Link>
    </div>
  );
}

function Outcome({ approval }: { approval: Approval }) {
  return (
    <>
      {outcome(approval)}
      {approval.decided_at !== undefined && (
        <>
          {" "}
          <Ago at={approval.decided_at} />
        </>
      )}
      .
    </>
  );
}
