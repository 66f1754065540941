"""The event log of a run, by page or live."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, cast

from plait.api.event import EventPage, ListEvents, StreamEnd
from plait.api.noun import RUN
from plait.api.route import Answer, Fault, Reply, Route, Stream
from plait.engine import Handle
from plait.kernel.bundle import HasFeeds, Retell
from plait.kernel.errors import NotFound
from plait.kernel.events import Recorded

from .call import Call
from .query import bad_query
from .sse import frame

_NO_FEED = Fault(404, "runs.no_feed", "The run's dialect has no feed of that name.")


async def read(call: Call[ListEvents, None]) -> Answer | Stream:
    handle = await call.host.engine.get(call.params["id"], call.namespace)
    after, limit = _start(call), call.query.limit
    feed = await _feed(call, handle)
    if call.wants_stream:
        await handle.readable()
        return Stream(_live(handle, after, feed))
    found = await handle.events(after, limit + 1)
    next = found[limit - 1].seq if len(found) > limit else None
    return Answer(EventPage(events=_retold(found[:limit], feed), next=next))


async def _feed(call: Call[ListEvents, None], handle: Handle[Any]) -> Retell | None:
    name = call.query.feed
    if not name:
        return None
    dialect = (await handle.row()).dialect
    bundle = call.host.engine.bundle(dialect)
    feeds: Mapping[str, Retell] = bundle.feeds if isinstance(bundle, HasFeeds) else {}
    if name not in feeds:
        known = ", ".join(feeds) or "none"
        raise NotFound(_NO_FEED.code, f"runs of `{dialect}` have no feed {name!r}", fix=f"their feeds: {known}")
    return feeds[name]


def _retold(events: list[Recorded], feed: Retell | None) -> list[Recorded]:
    return events if feed is None else [told for event in events if (told := feed(event)) is not None]


def _start(call: Call[ListEvents, None]) -> int:
    """The event number to start after. A browser that reconnects sends its last one in a header, which is newer than
    the query of the address it first opened."""
    last = call.request.headers.get("last-event-id")
    if last is None or not last:
        return call.query.after
    if not last.isascii() or not last.isdigit() or len(last) > 15:
        raise bad_query(f"Last-Event-ID {last[:40]!r} is not an event number", "send the number of the last event")
    return int(last)


async def _live(handle: Handle[Any], after: int, feed: Retell | None) -> AsyncIterator[bytes]:
    async with aclosing(cast("AsyncGenerator[list[Recorded]]", handle.follow(after))) as batches:
        async for batch in batches:
            if told := _retold(batch, feed):
                yield b"".join(frame(event, id=event.seq) for event in told)
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
        faults=(_NO_FEED,),
        noun=RUN,
        streams=Recorded,
    ),
)
