"""Approvals: what runs ask people, and the answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Raw

from plait.kernel.ids import Millis, caller_id
from plait.kernel.store import Question

from .routes import Answer, Body, Call, Fault, Reply, Route, Scoped
from .runs import RunIdText
from .shapes import Shape

Decision = Literal["approve", "reject"]
Comment = Annotated[str, Meta(max_length=10_000)]


class Approval(Shape, frozen=True, kw_only=True):
    """An open question to a person."""

    id: str
    run_id: str
    namespace: str
    node: str
    title: str
    by: str = ""
    """Who is asked."""
    asked_at: Millis
    deadline: Millis | None = None
    form: Any = None
    """A JSON Schema for `data`."""
    evidence: Any = None
    """What to look at before deciding."""


class Approvals(Shape, frozen=True, kw_only=True):
    approvals: list[Approval]


class ListApprovals(Scoped, frozen=True, kw_only=True):
    run: RunIdText | None = None


class Decide(Body, frozen=True, kw_only=True):
    decision: Decision
    comment: Comment = ""
    data: Any = None
    """What the form asks for."""


class Decided(Shape, frozen=True, kw_only=True):
    id: str
    decision: Decision


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


async def list_approvals(call: Call[ListApprovals, None]) -> Answer:
    found = await call.engine.approvals.list(call.namespace, run_id=call.query.run)
    return Answer(Approvals(approvals=[approval_of(each) for each in found]))


async def show(call: Call[Scoped, None]) -> Answer:
    return Answer(approval_of(await call.engine.approvals.get(call.params["id"], call.namespace)))


async def decide(call: Call[Scoped, Decide]) -> Answer:
    id, body = call.params["id"], call.body
    await call.engine.approvals.decide(
        id, body.decision, by=call.caller.name, comment=body.comment, data=body.data, namespace=call.namespace
    )
    return Answer(Decided(id=id, decision=body.decision))


ROUTES = (
    Route(
        method="GET",
        path="/approvals",
        name="approvals.list",
        role="viewer",
        summary="Open questions to people, oldest first",
        handler=list_approvals,
        query=ListApprovals,
        replies=(Reply(200, Approvals, "What is asked."),),
    ),
    Route(
        method="GET",
        path="/approvals/{id}",
        name="approvals.show",
        role="viewer",
        summary="One open question",
        handler=show,
        query=Scoped,
        replies=(Reply(200, Approval, "The question."),),
        noun="approval",
    ),
    Route(
        method="POST",
        path="/approvals/{id}/decide",
        name="approvals.decide",
        role="approver",
        summary="Answer a question",
        handler=decide,
        query=Scoped,
        body=Decide,
        replies=(Reply(200, Decided, "The answer is durable."),),
        faults=(
            Fault(409, "kernel.decided", "Someone else was first."),
            Fault(422, "kernel.bad_form", "What came with the answer does not fit the form; `errors` says where."),
        ),
        noun="approval",
        example={"decision": "approve", "comment": "fine"},
    ),
)
