"""Approvals that runs request, and the decisions on them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from plait.api.approval import (
    Approval,
    ApprovalPage,
    Decide,
    Decided,
    Decision,
    Delegate,
    Delegation,
    Escalation,
    ListApprovals,
    Vote,
)
from plait.api.caller import Caller
from plait.api.cursor import cursor_of, place_of
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Scoped
from plait.kernel import approval as records
from plait.kernel.errors import Forbidden
from plait.kernel.ids import caller_id
from plait.kernel.journal import asker_of

from .call import Call
from .nouns import APPROVAL


class _Resumed(msgspec.Struct):
    """The answer of a run whose dialect tells the nodes it continues at."""

    status: Literal["resumed"]
    next_nodes: list[str]


async def list_approvals(call: Call[ListApprovals, None]) -> Answer:
    query = call.query
    found = await call.host.engine.approvals.list(
        call.namespace,
        run_id=query.run,
        status=query.status,
        after=None if query.cursor is None else place_of(query.cursor),
        limit=query.limit + 1,
    )
    page = found[: query.limit]
    more = cursor_of(page[-1].asked_at, page[-1].id) if len(found) > query.limit else None
    return Answer(ApprovalPage(approvals=[approval_of(each) for each in page], next=more))


async def show(call: Call[Scoped, None]) -> Answer:
    return Answer(approval_of(await call.host.engine.approvals.get(call.params["id"], call.namespace)))


async def decide(call: Call[Scoped, Decide]) -> Answer:
    id, body = call.params["id"], call.body
    found, answer = await call.host.engine.approvals.vote(
        id,
        body.decision,
        by=_voter(body.by or body.decided_by, call.caller),
        comment=body.comment or body.comments,
        data=body.data,
        evidence_hash=body.evidence_hash,
        namespace=call.namespace,
        key=_key(call),
    )
    return Answer(decided(found, body.decision, answer))


def _key(call: Call[Scoped, Decide]) -> str:
    """The idempotency key of a decision, separate for each caller: a decision that is sent again gets the first
    answer."""
    given = call.request.headers.get("idempotency-key", "")
    return f"{call.caller.id or call.caller.name}:{given}" if given else ""


async def delegate(call: Call[Scoped, Delegate]) -> Answer:
    body, caller = call.body, call.caller
    by = body.by if caller.may("admin") and body.by else _voter(body.by, caller)
    found = await call.host.engine.approvals.delegate(
        call.params["id"], body.to, by=by, comment=body.comment, namespace=call.namespace
    )
    return Answer(approval_of(found))


def _voter(by: str, caller: Caller) -> str:
    """Returns the name to record: the caller's own. Another stated name counts only on a server without
    authentication."""
    if not by or by == caller.name:
        return caller.name
    if caller.mode != "open":
        raise Forbidden(
            "auth.votes_by_key",
            f"this key decides as {caller.name}, not as {by}",
            why="a decision is recorded under the name of the key",
            fix="leave `by` out, or use a key of that person",
        )
    return by


def decided(approval: records.Approval, decision: Decision, answer: Any = None) -> Decided:
    """`answer`: the run's answer, if it gave one."""
    missing = approval.required - len(approval.votes) if approval.status == "open" else 0
    found = Decided(id=approval.id, decision=decision, remaining=missing)
    if not isinstance(answer, dict) or "next_nodes" not in answer:
        return found
    resumed = msgspec.convert(answer, _Resumed)
    return replace(found, approval_id=approval.id, status=resumed.status, next_nodes=resumed.next_nodes)


def approval_of(approval: records.Approval) -> Approval:
    return Approval(
        id=approval.id,
        run_id=caller_id(approval.run_id),
        namespace=approval.namespace,
        node=asker_of(approval.token),
        title=approval.title,
        by=approval.by,
        asked_at=approval.asked_at,
        deadline=approval.deadline,
        form=_given(approval.form),
        evidence=_given(approval.evidence),
        status=approval.status,
        required=approval.required,
        approvers=list(approval.approvers),
        votes=[_vote_of(vote) for vote in approval.votes],
        escalations=[Escalation(after=each.after, to=list(each.to)) for each in approval.escalations],
        level=approval.level,
        decided_at=approval.decided_at,
        decided_by=approval.decided_by,
        answer=_given(approval.answer),
        delegations=[Delegation(by=d.by, to=d.to, at=d.at, comment=d.comment) for d in approval.delegations],
        evidence_hash=approval.evidence_hash,
    )


def _vote_of(vote: records.Vote) -> Vote:
    decision: Decision = "approve" if vote.decision == "approve" else "reject"
    return Vote(
        by=vote.by,
        decision=decision,
        at=vote.at,
        comment=vote.comment,
        data=_given(vote.data),
        evidence_hash=vote.evidence_hash,
    )


def _given(value: Raw) -> Raw | None:
    return value if bytes(value) not in (b"", b"null") else None


ROUTES = (
    Route(
        method="GET",
        path="/approvals",
        name="approvals.list",
        role="viewer",
        summary="Approvals by status: open ones oldest first, others newest first",
        handler=list_approvals,
        query=ListApprovals,
        replies=(Reply(200, ApprovalPage, "A page of approvals."),),
        faults=(Fault(422, "http.bad_cursor", "Invalid cursor."),),
    ),
    Route(
        method="GET",
        path="/approvals/{id}",
        name="approvals.show",
        role="viewer",
        summary="One approval, open or decided",
        handler=show,
        query=Scoped,
        replies=(Reply(200, Approval, "The approval."),),
        noun=APPROVAL,
    ),
    Route(
        method="POST",
        path="/approvals/{id}/decide",
        name="approvals.decide",
        role="approver",
        summary="Decide an approval, or vote on it where several must approve",
        handler=decide,
        query=Scoped,
        body=Decide,
        replies=(Reply(200, Decided, "The vote is durable."),),
        faults=(
            Fault(403, "kernel.not_an_approver", "The caller is not one of its approvers."),
            Fault(409, "kernel.approval_decided", "It has been decided, has expired or was withdrawn."),
            Fault(409, "kernel.other_evidence", "`evidence_hash` names other evidence than the approval has."),
            Fault(422, "kernel.bad_form", "`data` does not match the form; `errors` says where."),
        ),
        noun=APPROVAL,
        example={"decision": "approve", "comment": "fine"},
    ),
    Route(
        method="POST",
        path="/approvals/{id}/delegate",
        name="approvals.delegate",
        role="approver",
        summary="Delegate a vote to someone else, who then decides instead",
        handler=delegate,
        query=Scoped,
        body=Delegate,
        replies=(Reply(200, Approval, "The approval, with its new approvers."),),
        faults=(
            Fault(403, "kernel.not_an_approver", "Who delegates is not one of its approvers."),
            Fault(409, "kernel.nothing_to_delegate", "It names no approvers, or is closed."),
        ),
        noun=APPROVAL,
        example={"to": "ben", "comment": "on leave until Monday"},
    ),
)
