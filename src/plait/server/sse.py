"""Server-sent events: frames, heartbeats, and an orderly end when the caller disconnects or the server stops.

A stream is pulled: the next batch is requested when the socket has accepted the last one. So a slow watcher delays
nobody, takes no memory, and misses nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from starlette.types import Receive, Send

from plait.kernel.errors import PlaitError

from .access import Access
from .headers import NO_STORE
from .site import Site

log = logging.getLogger("plait.server")

ALIVE = b": alive\n\n"
HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no"), NO_STORE]


def frame(data: Any, *, event: str = "", id: int | None = None) -> bytes:
    """Encodes one message. JSON has no raw line breaks, so the data is always one line."""
    lines = [f"event: {event}\n".encode()] if event else []
    if id is not None:
        lines.append(b"id: %d\n" % id)
    return b"".join((*lines, b"data: ", msgspec.json.encode(data), b"\n\n"))


async def stream(site: Site, frames: AsyncIterator[bytes], receive: Receive, send: Send, access: Access) -> None:
    """Sends frames until they end, the caller disconnects or loses access, or the server stops."""
    with site.watching():
        await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
        socket = _Socket(send, asyncio.get_running_loop().time)
        pumping = asyncio.ensure_future(_pump(frames, socket))
        beating = asyncio.ensure_future(_heartbeat(site, socket))
        ends = (_disconnected(receive), site.stopping.wait(), access.lost())
        others = [asyncio.ensure_future(end) for end in ends]
        try:
            await asyncio.wait((pumping, beating, *others), return_when=asyncio.FIRST_COMPLETED)
            if not others[0].done():
                await _finish(beating if beating.done() else pumping, send)
        finally:
            for task in (pumping, beating, *others):
                task.cancel()
            await asyncio.gather(pumping, beating, *others, return_exceptions=True)


class _Socket:
    """The socket that frames are sent to. It records since when a send is blocked, so that a send needs no timeout of
    its own."""

    def __init__(self, send: Send, clock: Callable[[], float]) -> None:
        self._send = send
        self.clock = clock
        self.last = clock()
        """The time of the last send."""
        self.busy_since: float | None = None

    async def send(self, chunk: bytes) -> None:
        self.last = self.clock()
        self.busy_since = self.busy_since or self.last
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        self.busy_since = None


async def _finish(pumping: asyncio.Future[None], send: Send) -> None:
    """Ends the response properly if the socket still accepts data, so that a browser reconnects by itself."""
    if not pumping.done():
        pumping.cancel()
        await asyncio.wait((pumping,))
    elif (error := pumping.exception()) is not None:
        _log(error)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(1):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _log(error: BaseException) -> None:
    """Logs the error. The head has been sent, so the watcher gets no error now, but one when it reconnects."""
    match error:
        case TimeoutError():
            log.info("closed a live stream: its reader was stalled")
        case PlaitError():
            log.warning("a live stream ended early: %s", error)
        case _:
            log.error("a live stream failed unexpectedly", exc_info=error)


async def _pump(frames: AsyncIterator[bytes], socket: _Socket) -> None:
    try:
        await socket.send(ALIVE)  # sends the head, which tells the caller that it is connected
        async for found in frames:
            await socket.send(found)
    finally:
        close = getattr(frames, "aclose", None)
        if close is not None:
            await close()


async def _heartbeat(site: Site, socket: _Socket) -> None:
    """Keeps a quiet stream alive; ends it when the watcher stalls for too long."""
    heartbeat, patience = site.settings.heartbeat, site.settings.stall_seconds
    while True:
        await asyncio.sleep(min(heartbeat, patience))
        now = socket.clock()
        if socket.busy_since is not None:
            if now - socket.busy_since > patience:
                raise TimeoutError
        elif now - socket.last >= heartbeat:
            await socket.send(ALIVE)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
