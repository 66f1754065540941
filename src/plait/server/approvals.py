"""Approvals: what runs ask people, and the decisions."""

from __future__ import annotations

from msgspec import Raw

from plait.api.approval import Approval, ApprovalList, Decide, Decided, ListApprovals
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Scoped
from plait.kernel.ids import caller_id
from plait.kernel.store import Question

from .call import Call
from .nouns import APPROVAL


async def list_approvals(call: Call[ListApprovals, None]) -> Answer:
    found = await call.host.engine.approvals.list(call.namespace, run_id=call.query.run)
    return Answer(ApprovalList(approvals=[approval_of(each) for each in found]))


async def show(call: Call[Scoped, None]) -> Answer:
    return Answer(approval_of(await call.host.engine.approvals.get(call.params["id"], call.namespace)))


async def decide(call: Call[Scoped, Decide]) -> Answer:
    id, body = call.params["id"], call.body
    await call.host.engine.approvals.decide(
        id, body.decision, by=call.caller.name, comment=body.comment, data=body.data, namespace=call.namespace
    )
    return Answer(Decided(id=id, decision=body.decision))


def approval_of(question: Question) -> Approval:
    return Approval(
        id=question.id,
        run_id=caller_id(question.run_id),
        namespace=question.namespace,
        node=question.token,
        title=question.title,
        by=question.by,
        asked_at=question.asked_at,
        deadline=question.deadline,
        form=_given(question.form),
        evidence=_given(question.evidence),
    )


def _given(value: Raw) -> Raw | None:
    return value if bytes(value) else None


ROUTES = (
    Route(
        method="GET",
        path="/approvals",
        name="approvals.list",
        role="viewer",
        summary="Open approvals, oldest first",
        handler=list_approvals,
        query=ListApprovals,
        replies=(Reply(200, ApprovalList, "The open approvals."),),
    ),
    Route(
        method="GET",
        path="/approvals/{id}",
        name="approvals.show",
        role="viewer",
        summary="One open approval",
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
        summary="Decide an approval",
        handler=decide,
        query=Scoped,
        body=Decide,
        replies=(Reply(200, Decided, "The decision is durable."),),
        faults=(
            Fault(409, "kernel.decided", "It has already been decided."),
            Fault(422, "kernel.bad_form", "`data` does not match the form; `errors` says where."),
        ),
        noun=APPROVAL,
        example={"decision": "approve", "comment": "fine"},
    ),
)
