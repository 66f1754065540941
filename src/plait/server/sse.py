"""Server-sent events: frames, heartbeats, and an end when the caller or the server goes.

A stream is pulled: the next batch is asked for when the socket has taken the last one, so that a slow watcher
holds up nobody, keeps nothing in memory, and misses nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
from starlette.types import Receive, Send

from plait.kernel.errors import PlaitError

from .routes import NO_STORE
from .site import Site

log = logging.getLogger("plait.server")

ALIVE = b": alive\n\n"
HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no"), NO_STORE]


def frame(data: Any, *, event: str = "", id: int | None = None) -> bytes:
    """One message. JSON has no raw line breaks, so it is always one line."""
    lines = [f"event: {event}\n".encode()] if event else []
    if id is not None:
        lines.append(b"id: %d\n" % id)
    return b"".join((*lines, b"data: ", msgspec.json.encode(data), b"\n\n"))


Check = Callable[[], Awaitable[None]]
"""Raises when the watcher may not watch any longer: a stream must not outlive its key."""


async def stream(site: Site, frames: AsyncIterator[bytes], receive: Receive, send: Send, allowed: Check) -> None:
    """Sends frames until they end, the caller goes or may not stay, or the server stops."""
    with site.watching():
        await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
        pumping = asyncio.ensure_future(_pump(site, frames, send, allowed))
        leaving = asyncio.ensure_future(_left(receive))
        stopping = asyncio.ensure_future(site.stopping.wait())
        try:
            await asyncio.wait((pumping, leaving, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not leaving.done():
                await _finish(pumping, send)
        finally:
            for task in (pumping, leaving, stopping):
                task.cancel()
            await asyncio.gather(pumping, leaving, stopping, return_exceptions=True)


async def _finish(pumping: asyncio.Future[None], send: Send) -> None:
    """Ends the answer properly, if the socket still takes anything: the browser then connects again by itself."""
    if not pumping.done():
        pumping.cancel()
        await asyncio.wait((pumping,))
    elif (error := pumping.exception()) is not None:
        _say(error)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(1):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _say(error: BaseException) -> None:
    """The head is sent, so the watcher can't be told; he connects again, and is told then."""
    match error:
        case TimeoutError():
            log.info("a watcher took nothing for too long")
        case PlaitError():
            log.warning("a live stream ended early: %s", error)
        case _:
            log.error("a live stream ended by a bug", exc_info=error)


async def _pump(site: Site, frames: AsyncIterator[bytes], send: Send, allowed: Check) -> None:
    clock, pause = asyncio.get_running_loop().time, site.settings.heartbeat
    upcoming = asyncio.ensure_future(anext(frames, None))
    try:
        await _give(site, ALIVE, send)  # the head goes out at once, so that the caller knows he is heard
        beat = clock() + pause
        while True:
            await asyncio.wait((upcoming,), timeout=max(0.0, beat - clock()))
            if clock() >= beat:
                if not await _may_stay(allowed):
                    return
                await _give(site, ALIVE, send)
                beat = clock() + pause
            if upcoming.done():
                found = upcoming.result()
                if found is None:
                    return
                await _give(site, found, send)
                upcoming = asyncio.ensure_future(anext(frames, None))
    finally:
        upcoming.cancel()
        await asyncio.gather(upcoming, return_exceptions=True)
        close = getattr(frames, "aclose", None)
        if close is not None:
            await close()


async def _may_stay(allowed: Check) -> bool:
    try:
        await allowed()
    except PlaitError as error:
        return error.status not in (401, 403)  # who can't be asked right now may stay a little longer
    return True


async def _give(site: Site, chunk: bytes, send: Send) -> None:
    async with asyncio.timeout(site.settings.stall_seconds):
        await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
