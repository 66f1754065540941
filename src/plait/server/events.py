"""The event log of a run: by page, and live."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from plait.api.event import EventPage, ListEvents, StreamEnd
from plait.api.route import Answer, Reply, Route, Stream
from plait.engine import Handle
from plait.kernel.events import Recorded

from .call import Call
from .nouns import RUN
from .query import bad_query
from .sse import frame


async def read(call: Call[ListEvents, None]) -> Answer | Stream:
    handle = await call.host.engine.get(call.params["id"], call.namespace)
    after, limit = _start(call), call.query.limit
    if call.wants_stream:
        await handle.readable()
        return Stream(_live(handle, after))
    found = await handle.events(after, limit + 1)
    return Answer(EventPage(events=found[:limit], next=found[limit - 1].seq if len(found) > limit else None))


def _start(call: Call[ListEvents, None]) -> int:
    """A browser that reconnects sends the last number it has; that is newer than the address it once opened."""
    last = call.request.headers.get("last-event-id")
    if last is None or not last:
        return call.query.after
    if not last.isascii() or not last.isdigit() or len(last) > 15:
        raise bad_query(f"Last-Event-ID {last[:40]!r} is not an event number", "send the number of the last event")
    return int(last)


async def _live(handle: Handle[Any], after: int) -> AsyncIterator[bytes]:
    async with aclosing(cast("AsyncGenerator[list[Recorded]]", handle.follow(after))) as batches:
        async for batch in batches:
            yield b"".join(frame(event, id=event.seq) for event in batch)
    yield frame(StreamEnd(status=await handle.status()), event="end")


ROUTES = (
    Route(
        method="GET",
        path="/runs/{id}/events",
        name="runs.events",
        role="viewer",
        summary="The events of a run, by page or live",
        handler=read,
        query=ListEvents,
        replies=(Reply(200, EventPage, "A page of events, in order."),),
        noun=RUN,
        streams=Recorded,
    ),
)
