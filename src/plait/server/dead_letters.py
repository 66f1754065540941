"""Dead letters: tasks that used up their attempts, to be tried again or given up."""

from __future__ import annotations

from typing import Any, Literal

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, caller_id
from plait.kernel.store import DeadLetter as Row

from .routes import Answer, Body, Call, Fault, Reply, Route, Scoped
from .runs import RunIdText
from .shapes import Shape

Status = Literal["pending", "retried", "discarded"]


class DeadLetter(Shape, frozen=True, kw_only=True):
    id: str
    run_id: str
    namespace: str
    node: str
    label: str
    attempts: int
    error: ErrorInfo
    at: Millis
    status: Status


class DeadLetters(Shape, frozen=True, kw_only=True):
    dead_letters: list[DeadLetter]


class ListLetters(Scoped, frozen=True, kw_only=True):
    status: Literal["pending", "retried", "discarded", "all"] = "pending"
    run: RunIdText | None = None


class Settled(Shape, frozen=True, kw_only=True):
    id: str
    status: Status


def letter_of(row: Row) -> DeadLetter:
    return DeadLetter(
        id=row.id,
        run_id=caller_id(row.run_id),
        namespace=row.namespace,
        node=row.token,
        label=row.label,
        attempts=row.attempts,
        error=row.error,
        at=row.at,
        status=row.status,
    )


async def list_letters(call: Call[ListLetters, None]) -> Answer:
    query = call.query
    found = await call.engine.dlq.list(call.namespace, all=query.status != "pending", run_id=query.run)
    shown = [letter_of(row) for row in found if query.status in ("all", row.status)]
    return Answer(DeadLetters(dead_letters=shown))


async def retry(call: Call[Scoped, Body]) -> Answer:
    await call.engine.dlq.retry(call.params["id"], call.namespace)
    return Answer(Settled(id=call.params["id"], status="retried"))


async def discard(call: Call[Scoped, Body]) -> Answer:
    await call.engine.dlq.discard(call.params["id"], call.namespace)
    return Answer(Settled(id=call.params["id"], status="discarded"))


def _settling(verb: Literal["retry", "discard"], summary: str) -> Route[Any, Any]:
    return Route(
        method="POST",
        path=f"/dlq/{{id}}/{verb}",
        name=f"dlq.{verb}",
        role="operator",
        summary=summary,
        handler=retry if verb == "retry" else discard,
        query=Scoped,
        body=Body,
        body_optional=True,
        replies=(Reply(200, Settled, "It is settled, and durable."),),
        faults=(Fault(409, "kernel.dead_letter_settled", "It was settled before."),),
        noun="dead_letter",
        example={},
    )


ROUTES = (
    Route(
        method="GET",
        path="/dlq",
        name="dlq.list",
        role="viewer",
        summary="Tasks that used up their attempts, oldest first",
        handler=list_letters,
        query=ListLetters,
        replies=(Reply(200, DeadLetters, "The dead letters."),),
    ),
    _settling("retry", "Try the task again, with fresh attempts"),
    _settling("discard", "Give the task up"),
)
