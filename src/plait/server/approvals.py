"""Approvals: what runs ask people, and the decisions."""

from __future__ import annotations

from msgspec import Raw

from plait.api.approval import Approval, ApprovalPage, Decide, Decided, Decision, Escalation, ListApprovals, Vote
from plait.api.caller import Caller
from plait.api.cursor import cursor_of, place_of
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Scoped
from plait.kernel import approval as records
from plait.kernel.errors import Forbidden
from plait.kernel.ids import caller_id

from .call import Call
from .nouns import APPROVAL


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
    found = await call.host.engine.approvals.decide(
        id,
        body.decision,
        by=_voter(body.by, call.caller),
        comment=body.comment,
        data=body.data,
        namespace=call.namespace,
    )
    return Answer(decided(found, body.decision))


def _voter(by: str, caller: Caller) -> str:
    """A name that a caller claims counts only where nobody proves who they are."""
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


def decided(approval: records.Approval, decision: Decision) -> Decided:
    missing = approval.required - len(approval.votes) if approval.status == "open" else 0
    return Decided(id=approval.id, decision=decision, remaining=missing)


def approval_of(approval: records.Approval) -> Approval:
    return Approval(
        id=approval.id,
        run_id=caller_id(approval.run_id),
        namespace=approval.namespace,
        node=approval.token,
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
    )


def _vote_of(vote: records.Vote) -> Vote:
    decision: Decision = "approve" if vote.decision == "approve" else "reject"
    return Vote(by=vote.by, decision=decision, at=vote.at, comment=vote.comment, data=_given(vote.data))


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
            Fault(422, "kernel.bad_form", "`data` does not match the form; `errors` says where."),
        ),
        noun=APPROVAL,
        example={"decision": "approve", "comment": "fine"},
    ),
)
