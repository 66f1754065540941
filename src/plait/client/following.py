"""The events of a run as they happen, over a connection that may break: each once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from plait.kernel.errors import PlaitError
from plait.kernel.events import Recorded

from .errors import Stray, is_passing
from .stream import Frame
from .transport import Transport, decode

_PAUSE = 0.2


class Following:
    """Connects again from the last event it has, for as long as `patience` says: whoever follows a run has spoken
    with its server before, so that one which does not answer is only away."""

    def __init__(self, transport: Transport, path: str, namespace: str, patience: float) -> None:
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
                if not isinstance(error, Stray) and not is_passing(error):
                    raise
                failure = error
            await self._wait(failure, after)

    def _read(self, frames: Sequence[Frame]) -> list[Recorded]:
        self._ended = any(frame.event == "end" for frame in frames)
        return [decode(frame.data, Recorded) for frame in frames if frame.event == "message"]

    async def _wait(self, failure: PlaitError | None, after: int) -> None:
        """A pause before the next try; raises when there have been enough of them."""
        now = asyncio.get_running_loop().time()
        self._lost_at = self._lost_at if self._lost_at is not None else now
        if now - self._lost_at >= self._patience:
            raise Stray(
                "client.lost",
                f"{self._transport.address.url} went away and did not come back",
                why=failure.what if failure is not None else "it ended the stream",
                fix=f"nothing of the run is lost: when the server is back, go on after event {after}",
            )
        await asyncio.sleep(_PAUSE)
