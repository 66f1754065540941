"""Streams the events of a run over a connection that may break: each event once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from plait.kernel.errors import PlaitError
from plait.kernel.events import Recorded

from .errors import NoAnswer, is_transient
from .sse import Frame
from .transport import HttpTransport, decode

PATIENCE = 15.0
"""Seconds to keep reconnecting a broken live stream, because the server may be restarting."""
_PAUSE = 0.2


class EventStream:
    """Reconnects after the last event received, for up to `patience` seconds: a caller that follows a run has reached
    the server before, so it may be back soon."""

    def __init__(self, transport: HttpTransport, path: str, namespace: str, patience: float) -> None:
        self._transport = transport
        self._path = path
        self._namespace = namespace
        self._patience = patience
        self._ended = False
        self._lost_at: float | None = None

    async def events(self, after: int) -> AsyncIterator[list[Recorded]]:
        while not self._ended:
            failure: PlaitError | None = None
            try:
                query = {"after": after, "namespace": self._namespace}
                async with self._transport.listen(self._path, query) as pieces:
                    async for frames in pieces:
                        self._lost_at = None
                        if found := self._read(frames):
                            after = found[-1].seq
                            yield found
                        if self._ended:
                            return
            except PlaitError as error:
                if not isinstance(error, NoAnswer) and not is_transient(error):
                    raise
                failure = error
            await self._wait(failure, after)

    def _read(self, frames: Sequence[Frame]) -> list[Recorded]:
        self._ended = any(frame.event == "end" for frame in frames)
        return [decode(frame.data, Recorded) for frame in frames if frame.event == "message"]

    async def _wait(self, failure: PlaitError | None, after: int) -> None:
        """Pauses before the next attempt; raises when `patience` is used up."""
        now = asyncio.get_running_loop().time()
        self._lost_at = self._lost_at if self._lost_at is not None else now
        if now - self._lost_at >= self._patience:
            raise NoAnswer(
                "client.lost",
                f"lost the connection to {self._transport.address.url}",
                why=failure.what if failure is not None else "the server ended the stream",
                fix=f"the run is not affected: when the server is back, continue after event {after}",
            )
        await asyncio.sleep(_PAUSE)
