/** Approvals: what runs ask people, the open ones first, and the decision on one of them. */

import { useEffect, useRef, useState } from "react";
import type { Approval } from "../../api/types";
import { Button, LinkButton } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";
import { useKey } from "../../shell/keys";
import { Page, type PageProps } from "../../shell/page";
import { Link, navigate, useQuery } from "../../shell/router";
import { usePoll } from "../../shell/use-poll";
import { ApprovalList, approvalPath } from "./ApprovalList";
import { ChosenApproval } from "./ChosenApproval";
import { type Shown, StatusFilter, useShown } from "./StatusFilter";
import { useApprovals, useChosen } from "./use-approvals";
import { STATUS_WORDS } from "./voting";
import "./approvals.css";

const EVERY = 4000;

export default function Approvals({ params }: PageProps) {
  const [status, setStatus] = useShown();
  const { data, error, reload, more } = useApprovals(status);
  usePoll(reload, EVERY);
  useFocus(reload);
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set());
  const list = data?.approvals.filter((one) => status !== "open" || !answered.has(asking(one)));
  const first = useFirst(list, answered, params.id === undefined);
  const selected = params.id ?? first;
  const query = status === "open" ? "" : `?status=${status}`;
  useWalk(list ?? [], selected, query);
  const { approval, open, loading } = useChosen(list, selected);
  const choose = (next: Shown) => {
    if (params.id !== undefined) navigate("/approvals", { replace: true });
    setStatus(next);
  };
  return (
    <Page title="Approvals" actions={<StatusFilter value={status} onChange={choose} />}>
      {error && !data && (
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      )}
      {!data && !error && <Loading what="Loading approvals" />}
      {list?.length === 0 && !approval && params.id === undefined && <Nothing status={status} />}
      {list && (list.length > 0 || approval || params.id !== undefined) && (
        <div className={params.id === undefined ? "inbox" : "inbox chosen"}>
          <div className="inbox-side">
            <ApprovalList approvals={list} selected={selected} label={labelOf(status)} query={query} />
            {more && <Button onClick={more}>Show more</Button>}
          </div>
          <section className="inbox-main" aria-label="Approval">
            <Link className="text inbox-back" to={`/approvals${query}`}>
              All approvals
            </Link>
            {approval ? (
              <ChosenApproval
                key={approval.id}
                approval={approval}
                open={open}
                next={list.find(({ id }) => id !== approval.id)?.id}
                reload={reload}
                onDecided={() => setAnswered((old) => new Set(old).add(asking(approval)))}
              />
            ) : loading ? (
              <Loading what="Loading the approval" />
            ) : (
              <Unknown />
            )}
          </section>
        </div>
      )}
    </Page>
  );
}

function labelOf(status: Shown): string {
  return status === "all" ? "All approvals" : `${STATUS_WORDS[status]} approvals`;
}

function Nothing({ status }: { status: Shown }) {
  if (status !== "open")
    return <Empty icon="approvals" title={status === "all" ? "No approvals" : `No ${status} approvals`} />;
  return (
    <Empty icon="approvals" title="No open approvals" command={'await ctx.approve("ship_it", by="boss", form=Answer)'}>
      Approvals that runs are waiting for appear here, with their evidence and form.
    </Empty>
  );
}

function Unknown() {
  return (
    <Empty
      icon="info"
      title="There is no such approval"
      action={<LinkButton to="/approvals">All approvals</LinkButton>}
    >
      Its id may be incomplete, or it belongs to another namespace.
    </Empty>
  );
}

/** An approval as it was requested, whatever became of it in the list. */
function asking({ id, asked_at }: Approval): string {
  return `${id} ${asked_at}`;
}

/**
 * Where the path names none: that of the run in the query, or the oldest. Once shown it stays chosen, so that it
 * does not turn into another one under a reader's eyes when someone else decides it.
 */
function useFirst(list: Approval[] | undefined, answered: ReadonlySet<string>, wanted: boolean): string | undefined {
  const run = useQuery()[0].get("run");
  const [status] = useShown();
  const chosen = useRef<{ status: Shown; approval: Approval }>(undefined);
  const found = list?.find(({ run_id }) => run_id === run) ?? list?.[0];
  const old = chosen.current;
  const mine = old !== undefined && (answered.has(asking(old.approval)) || old.status !== status);
  if (!wanted || mine) chosen.current = undefined;
  if (wanted && found) chosen.current ??= { status, approval: found };
  return chosen.current?.approval.id;
}

function useWalk(list: Approval[], selected: string | undefined, query: string): void {
  const go = (step: number) => {
    const at = list.findIndex(({ id }) => id === selected);
    const next = list[Math.min(Math.max(at + step, 0), list.length - 1)];
    if (next) navigate(approvalPath(next.id) + query, { replace: true });
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
