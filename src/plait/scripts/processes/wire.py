"""The engine's end of the pipe to one worker: sends a request, receives lines and one answer."""

from __future__ import annotations

import asyncio
from typing import cast

from plait.kernel.values import MAX_BYTES

_HEAD = 4
_FINAL = frozenset(b"HVEX")
_PRINTED = ord("P")
_LAST_LOOK = 0.01


class WireClosed(Exception):
    """The worker is gone, or sent an invalid frame."""


class Wire(asyncio.Protocol):
    """Splits incoming data into frames. A worker is not trusted: a frame that is too long closes the connection."""

    def __init__(self) -> None:
        self.open = True
        self.printed: list[str] = []
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        """The first answer is the worker's greeting."""

    def greeting(self) -> asyncio.Future[bytes]:
        return self._answer

    def ask(self, frame: bytes) -> asyncio.Future[bytes]:
        """Sends a request; the answer is its kind and body."""
        self.printed = []
        self._answer = asyncio.get_running_loop().create_future()
        if self._transport is None or not self.open:
            _fail(self._answer, WireClosed())
        else:
            self._transport.write(frame)
        return self._answer

    def expire(self) -> None:
        """The time for the answer is over, unless it is already in the pipe: a busy loop may not have read it yet."""
        asyncio.get_running_loop().call_later(_LAST_LOOK, _fail, self._answer, TimeoutError())

    def close(self) -> None:
        self.open = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.open = False
        _fail(self._answer, WireClosed())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) > _HEAD:
            size = int.from_bytes(self._buffer[:_HEAD], "big")
            if not 0 < size <= MAX_BYTES:
                self.close()
                return
            if len(self._buffer) < _HEAD + size:
                return
            frame = bytes(self._buffer[_HEAD : _HEAD + size])
            del self._buffer[: _HEAD + size]
            self._take(frame)

    def _take(self, frame: bytes) -> None:
        if frame[0] == _PRINTED:
            self.printed.append(frame[1:].decode(errors="replace").replace("\0", "\ufffd"))
        elif frame[0] not in _FINAL or self._answer.done():
            self.close()
        else:
            self._answer.set_result(frame)


def _fail(answer: asyncio.Future[bytes], problem: Exception) -> None:
    if not answer.done():
        answer.set_exception(problem)
        answer.exception()  # there may be no caller, which is not an error
