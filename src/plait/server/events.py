"""The event log of a run: by page, and live."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any, cast

from msgspec import Meta

from plait.engine import Handle
from plait.kernel.events import Recorded
from plait.kernel.view import RunStatus

from .query import bad_query
from .routes import Answer, Call, Reply, Route, Scoped, Stream
from .shapes import Shape
from .sse import frame

Number = Annotated[int, Meta(ge=0, le=2**53)]


class ReadEvents(Scoped, frozen=True, kw_only=True):
    after: Number = 0
    limit: Annotated[int, Meta(ge=1, le=5000)] = 500


class Events(Shape, frozen=True, kw_only=True):
    events: list[Recorded]
    next: int | None = None
    """The number to ask for those after, when there are more."""


class End(Shape, frozen=True, kw_only=True):
    """The last frame of a run that has ended."""

    status: RunStatus


async def read(call: Call[ReadEvents, None]) -> Answer | Stream:
    handle = await call.engine.get(call.params["id"], call.namespace)
    after, limit = _start(call), call.query.limit
    if call.wants_stream:
        return Stream(_live(handle, after))
    found = await handle.events(after, limit + 1)
    return Answer(Events(events=found[:limit], next=found[limit - 1].seq if len(found) > limit else None))


def _start(call: Call[ReadEvents, None]) -> int:
    """A browser that reconnects says the last number it had; it knows better than the address it once opened."""
    last = call.request.headers.get("last-event-id")
    if last is None or not last:
        return call.query.after
    if not last.isascii() or not last.isdigit() or len(last) > 15:
        raise bad_query(f"Last-Event-ID {last[:40]!r} is no event number", "send the number of the last event you have")
    return int(last)


async def _live(handle: Handle[Any], after: int) -> AsyncIterator[bytes]:
    async with aclosing(cast("AsyncGenerator[list[Recorded]]", handle.follow(after))) as batches:
        async for batch in batches:
            yield b"".join(frame(event, id=event.seq) for event in batch)
    yield frame(End(status=await handle.status()), event="end")


ROUTES = (
    Route(
        method="GET",
        path="/runs/{id}/events",
        name="runs.events",
        role="viewer",
        summary="The events of a run, by page or live",
        handler=read,
        query=ReadEvents,
        replies=(Reply(200, Events, "A page of events, in order."),),
        noun="run",
        streams=Recorded,
    ),
)
