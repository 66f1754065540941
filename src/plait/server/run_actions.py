"""Telling a run something: cancel, retry, compensate, patch, a message, a fork."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from plait.engine import Handle
from plait.kernel.view import RunStatus

from .routes import Answer, AnyCall, Body, Call, Fault, Reply, Route, Scoped
from .runs import RunIdText
from .shapes import Done, RunRef, Shape

Place = Annotated[str, Meta(min_length=1, max_length=1000)]
_ENDED = Fault(409, "RUN_FINISHED", "The run has ended, or is in the wrong state for this.")


class Standing(Shape, frozen=True, kw_only=True):
    """How the run stands after it was told."""

    id: str
    status: RunStatus


class Cancel(Body, frozen=True, kw_only=True):
    reason: Annotated[str, Meta(max_length=10_000)] = ""
    compensate: bool = False
    """Undo what its steps did first."""


class Retry(Body, frozen=True, kw_only=True):
    from_: Place | None = msgspec.field(name="from", default=None)
    """The node to go back to; without it, the run goes on where it failed."""


class Patch(Body, frozen=True, kw_only=True):
    operations: Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=1000)]


class SendMessage(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=1000)]
    body: Any = None
    id: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^~]")] | None = None
    """The same id twice is one message."""


class Fork(Body, frozen=True, kw_only=True):
    at: Annotated[int, Meta(ge=1, le=2**53)] | Place | None = None
    """The last event that both share, or the node that is done again."""
    edits: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """Other results of nodes that ended before."""
    id: RunIdText | None = None


async def _run(call: AnyCall) -> Handle[Any]:
    return await call.engine.get(call.params["id"], call.namespace)


async def _standing(handle: Handle[Any]) -> Answer:
    return Answer(Standing(id=handle.id, status=await handle.status()))


async def cancel(call: Call[Scoped, Cancel]) -> Answer:
    handle = await _run(call)
    await handle.cancel(call.body.reason, call.body.compensate)
    return await _standing(handle)


async def retry(call: Call[Scoped, Retry]) -> Answer:
    handle = await _run(call)
    await handle.retry(call.body.from_)
    return await _standing(handle)


async def compensate(call: Call[Scoped, Body]) -> Answer:
    handle = await _run(call)
    await handle.compensate()
    return await _standing(handle)


async def patch(call: Call[Scoped, Patch]) -> Answer:
    handle = await _run(call)
    await handle.patch(call.body.operations)
    return await _standing(handle)


async def message(call: Call[Scoped, SendMessage]) -> Answer:
    handle = await _run(call)
    return Answer(Done(id=await handle.message(call.body.name, call.body.body, call.body.id)))


async def fork(call: Call[Scoped, Fork]) -> Answer:
    handle = await _run(call)
    made = await handle.fork(call.body.at, call.body.edits, call.body.id)
    return Answer(RunRef(id=made.id, namespace=made.namespace, status=await made.status()), 201)


_STANDING = (Reply(200, Standing, "It is told, and durable."),)

ROUTES = (
    Route(
        method="POST",
        path="/runs/{id}/cancel",
        name="runs.cancel",
        role="operator",
        summary="End a run",
        handler=cancel,
        query=Scoped,
        body=Cancel,
        body_optional=True,
        replies=_STANDING,
        noun="run",
        example={"reason": "ordered twice"},
    ),
    Route(
        method="POST",
        path="/runs/{id}/retry",
        name="runs.retry",
        role="operator",
        summary="Go on with a failed or blocked run, or redo a part of one",
        handler=retry,
        query=Scoped,
        body=Retry,
        body_optional=True,
        replies=_STANDING,
        faults=(_ENDED,),
        noun="run",
        example={"from": "charge"},
    ),
    Route(
        method="POST",
        path="/runs/{id}/compensate",
        name="runs.compensate",
        role="operator",
        summary="Undo what the steps of an ended run did",
        handler=compensate,
        query=Scoped,
        body=Body,
        body_optional=True,
        replies=_STANDING,
        faults=(_ENDED,),
        noun="run",
        example={},
    ),
    Route(
        method="POST",
        path="/runs/{id}/patch",
        name="runs.patch",
        role="editor",
        summary="Change the definition of one run, where its dialect can",
        handler=patch,
        query=Scoped,
        body=Patch,
        replies=_STANDING,
        faults=(_ENDED,),
        noun="run",
        example={"operations": [{"op": "remove", "node": "ship"}]},
    ),
    Route(
        method="POST",
        path="/runs/{id}/messages",
        name="runs.message",
        role="operator",
        summary="Send a message to a run",
        handler=message,
        query=Scoped,
        body=SendMessage,
        replies=(Reply(200, Done, "It is durable; this is its id."),),
        faults=(_ENDED, Fault(429, "kernel.queue_full", "Too many messages wait for this run.")),
        noun="run",
        example={"name": "yes", "body": {"by": "me"}},
    ),
    Route(
        method="POST",
        path="/runs/{id}/fork",
        name="runs.fork",
        role="operator",
        summary="Start a new run with the past of this one",
        handler=fork,
        query=Scoped,
        body=Fork,
        body_optional=True,
        replies=(Reply(201, RunRef, "The new run."),),
        faults=(Fault(409, "kernel.run_exists", "The id is taken."),),
        noun="run",
        example={"at": "charge"},
    ),
)
