"""Dead letters: tasks that used up their attempts, to be retried or discarded."""

from __future__ import annotations

from typing import Literal

from plait.api.cursor import cursor_of, place_of
from plait.api.dead_letter import DeadLetter, DeadLetterPage, DeadLetterState, ListDeadLetters
from plait.api.route import Answer, AnyRoute, Fault, Reply, Route
from plait.api.shape import Body, Scoped
from plait.kernel.ids import caller_id
from plait.kernel.store import DeadLetter as Row

from .call import Call
from .nouns import DEAD_LETTER


async def list_dead_letters(call: Call[ListDeadLetters, None]) -> Answer:
    query = call.query
    found = await call.host.engine.dlq.list(
        call.namespace,
        all=query.status == "all",
        status="pending" if query.status == "all" else query.status,
        run_id=query.run,
        after=None if query.cursor is None else place_of(query.cursor),
        limit=query.limit + 1,
    )
    page = found[: query.limit]
    more = cursor_of(page[-1].at, page[-1].id) if len(found) > query.limit else None
    return Answer(DeadLetterPage(dead_letters=[_shape(row) for row in page], next=more))


async def show(call: Call[Scoped, None]) -> Answer:
    return Answer(_shape(await call.host.engine.dlq.get(call.params["id"], call.namespace)))


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
        replies=(Reply(200, DeadLetterPage, "A page of dead letters."),),
        faults=(Fault(422, "http.bad_cursor", "Invalid cursor."),),
    ),
    Route(
        method="GET",
        path="/dlq/{id}",
        name="dlq.show",
        role="viewer",
        summary="One dead letter, pending or settled",
        handler=show,
        query=Scoped,
        replies=(Reply(200, DeadLetter, "The dead letter."),),
        noun=DEAD_LETTER,
    ),
    _action("retry", "Retry the task, with new attempts"),
    _action("discard", "Discard the task"),
)
