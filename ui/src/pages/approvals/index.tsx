/** The approvals inbox: what runs ask people, oldest first, and the answer to one of them. */

import { useEffect, useRef, useState } from "react";
import { api } from "../../api/client";
import type { Approval } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Button, LinkButton } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";
import { useKey } from "../../shell/keys";
import { allows, useMe } from "../../shell/me";
import { Page, type PageProps } from "../../shell/page";
import { Link, navigate, useQuery } from "../../shell/router";
import { toast } from "../../shell/toasts";
import { usePoll } from "../../shell/use-poll";
import { ApprovalDetail } from "./ApprovalDetail";
import { ApprovalList, approvalPath } from "./ApprovalList";
import { DecisionForm } from "./DecisionForm";
import { type Decision, decisionCopy, decisionPath } from "./decision";
import { ShareLink } from "./ShareLink";
import "./approvals.css";

const EVERY = 4000;

export default function Approvals({ params }: PageProps) {
  const { data, error, reload } = useResource<{ approvals: Approval[] }>("/approvals");
  usePoll(reload, EVERY);
  useFocus(reload);
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set());
  const list = data?.approvals.filter((one) => !answered.has(asking(one)));
  const first = useFirst(list, answered, params.id === undefined);
  const selected = params.id ?? first;
  useWalk(list ?? [], selected);
  const approval = useKept(list, selected);
  return (
    <Page title="Approvals">
      {error && !data && (
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      )}
      {!data && !error && <Loading what="Loading approvals" />}
      {list?.length === 0 && !approval && params.id === undefined && <NothingAsked />}
      {list && (list.length > 0 || approval || params.id !== undefined) && (
        <div className={params.id === undefined ? "inbox" : "inbox chosen"}>
          <div className="inbox-side">
            <ApprovalList approvals={list} selected={selected} />
          </div>
          <section className="inbox-main" aria-label="Approval">
            <Link className="text inbox-back" to="/approvals">
              All approvals
            </Link>
            {approval ? (
              <Open
                key={approval.id}
                approval={approval}
                gone={!list.some(({ id }) => id === approval.id)}
                next={list.find(({ id }) => id !== approval.id)?.id}
                reload={reload}
                onAnswered={() => setAnswered((old) => new Set(old).add(asking(approval)))}
              />
            ) : (
              <NotOpen />
            )}
          </section>
        </div>
      )}
    </Page>
  );
}

function NothingAsked() {
  return (
    <Empty icon="approvals" title="No open approvals" command={'await ctx.approve("ship_it", by="boss", form=Answer)'}>
      Approvals that runs are waiting for appear here, with their evidence and form.
    </Empty>
  );
}

function NotOpen() {
  return (
    <Empty
      icon="info"
      title="This approval is not open"
      action={<LinkButton to="/approvals">All approvals</LinkButton>}
    >
      It was decided, its deadline passed, its run ended, or it never existed.
    </Empty>
  );
}

interface OpenProps {
  approval: Approval;
  gone: boolean;
  next: string | undefined;
  reload: () => void;
  onAnswered: () => void;
}

function Open({ approval, gone, next, reload, onAnswered }: OpenProps) {
  const me = useMe();
  const [sharing, setSharing] = useState(false);
  const may = allows(me, "approver");
  const send = async (decision: Decision) => {
    const { comment, ...rest } = decision;
    try {
      const body = { ...rest, comment: comment || undefined };
      await api.post(decisionPath(approval.id), body, { namespace: approval.namespace });
    } catch (thrown) {
      // Someone was faster, perhaps: the list knows.
      reload();
      throw thrown;
    }
    toast({ kind: "ok", text: `${decision.decision === "approve" ? "Approved" : "Rejected"}: ${approval.title}` });
    onAnswered();
    reload();
    navigate(next === undefined ? "/approvals" : approvalPath(next), { replace: true });
  };
  return (
    <div className="card pad stack">
      <ApprovalDetail
        approval={approval}
        actions={
          may &&
          !gone && (
            <Button look="ghost" icon="external" onClick={() => setSharing(true)}>
              Share link
            </Button>
          )
        }
      />
      {gone ? (
        <Gone approval={approval} />
      ) : may ? (
        <DecisionForm
          approval={approval}
          send={send}
          extra={(decision) => <CopyAs up action={decisionCopy(approval, decision)} />}
        />
      ) : (
        <p className="muted">Your role is {me.role}. Deciding requires the approver or admin role.</p>
      )}
      {sharing && <ShareLink approval={approval} onClose={() => setSharing(false)} />}
    </div>
  );
}

function Gone({ approval }: { approval: Approval }) {
  return (
    <div className="notice" role="status">
      <strong>No longer open.</strong> It was decided by someone else, its deadline passed, or its run ended.{" "}
      <Link className="text" to={`/runs/${encodeURIComponent(approval.run_id)}`}>
        View run
      </Link>
    </div>
  );
}

/** A question as it was asked: a run that is taken back asks anew under the same id. */
function asking({ id, asked_at }: Approval): string {
  return `${id} ${asked_at}`;
}

/**
 * Where the path names no question: that of the run in the query, or the oldest. Once shown it stays chosen, so that it
 * does not turn into another one under a reader's eyes when someone else decides it.
 */
function useFirst(list: Approval[] | undefined, answered: ReadonlySet<string>, wanted: boolean): string | undefined {
  const run = useQuery()[0].get("run");
  const chosen = useRef<Approval>(undefined);
  const found = list?.find(({ run_id }) => run_id === run) ?? list?.[0];
  const mine = chosen.current !== undefined && answered.has(asking(chosen.current));
  if (!wanted || mine) chosen.current = undefined;
  if (wanted) chosen.current ??= found;
  return chosen.current?.id;
}

/** The chosen approval; when it leaves the list under a reader's eyes it stays, to be marked as gone. */
function useKept(list: Approval[] | undefined, id: string | undefined): Approval | undefined {
  const kept = useRef<Approval>(undefined);
  const found = list?.find((approval) => approval.id === id);
  if (found) kept.current = found;
  return kept.current?.id === id ? kept.current : undefined;
}

function useWalk(list: Approval[], selected: string | undefined): void {
  const go = (step: number) => {
    const at = list.findIndex(({ id }) => id === selected);
    const next = list[Math.min(Math.max(at + step, 0), list.length - 1)];
    if (next) navigate(approvalPath(next.id), { replace: true });
  };
  useKey("j", () => go(1), { label: "Next approval", group: "Approvals" });
  useKey("k", () => go(-1), { label: "Previous approval", group: "Approvals" });
}

function useFocus(run: () => void): void {
  useEffect(() => {
    window.addEventListener("focus", run);
    return () => window.removeEventListener("focus", run);
  }, [run]);
}
