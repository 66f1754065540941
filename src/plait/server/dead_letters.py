"""Dead letters: tasks that used up their attempts, to be retried or discarded."""

from __future__ import annotations

from typing import Literal

from plait.api.dead_letter import DeadLetter, DeadLetterList, DeadLetterState, ListDeadLetters
from plait.api.route import Answer, AnyRoute, Fault, Reply, Route
from plait.api.shape import Body, Scoped
from plait.kernel.ids import caller_id
from plait.kernel.store import DeadLetter as Row

from .call import Call
from .nouns import DEAD_LETTER


async def list_dead_letters(call: Call[ListDeadLetters, None]) -> Answer:
    query = call.query
    found = await call.host.engine.dlq.list(call.namespace, all=query.status != "pending", run_id=query.run)
    shown = [_shape(row) for row in found if query.status in ("all", row.status)]
    return Answer(DeadLetterList(dead_letters=shown))


async def retry(call: Call[Scoped, Body]) -> Answer:
    await call.host.engine.dlq.retry(call.params["id"], call.namespace)
    return Answer(DeadLetterState(id=call.params["id"], status="retried"))


async def discard(call: Call[Scoped, Body]) -> Answer:
    await call.host.engine.dlq.discard(call.params["id"], call.namespace)
    return Answer(DeadLetterState(id=call.params["id"], status="discarded"))


def _shape(row: Row) -> DeadLetter:
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


def _action(verb: Literal["retry", "discard"], summary: str) -> AnyRoute:
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
        replies=(Reply(200, DeadLetterState, "The request is durable."),),
        faults=(Fault(409, "kernel.dead_letter_settled", "It was already retried or discarded."),),
        noun=DEAD_LETTER,
        example={},
    )


ROUTES = (
    Route(
        method="GET",
        path="/dlq",
        name="dlq.list",
        role="viewer",
        summary="Dead letters, oldest first",
        handler=list_dead_letters,
        query=ListDeadLetters,
        replies=(Reply(200, DeadLetterList, "The dead letters."),),
    ),
    _action("retry", "Retry the task, with new attempts"),
    _action("discard", "Discard the task"),
)
