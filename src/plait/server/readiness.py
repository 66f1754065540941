"""Checks whether the database accepts writes. Load balancers ask often, and anyone may ask.

A database that can be read may still be full, read-only or locked: only a write tells. However many callers ask, there
is one attempt per second.
"""

from __future__ import annotations

import asyncio

from plait.engine import Engine
from plait.kernel import values
from plait.kernel.errors import PlaitError, Unavailable
from plait.kernel.records import Record

_TIMEOUT = 2.0
"""Seconds that the write may take before the server counts as not ready."""
_EVERY = 1.0
_PROBE = ("server.ready", "", "write")
"""The record that every check writes."""


class Readiness:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._try: asyncio.Task[Unavailable | None] | None = None
        self._tried = 0.0

    async def check(self) -> None:
        """Raises `server.not_ready` if the last write did not succeed."""
        self._engine.kernel.must_live()
        now = self._engine.kernel.clock.monotonic()
        if self._try is None or (self._try.done() and now - self._tried >= _EVERY):
            self._try, self._tried = asyncio.ensure_future(self._write()), now
        if (failure := await asyncio.shield(self._try)) is not None:
            raise failure

    async def _write(self) -> Unavailable | None:
        record = Record(*_PROBE, body=values.NULL, at=self._engine.kernel.clock.now())
        try:
            async with asyncio.timeout(_TIMEOUT):
                await self._engine.records.put(record)
        except TimeoutError:
            return Unavailable("server.not_ready", f"the database took no write within {_TIMEOUT:g} s")
        except PlaitError as error:
            return Unavailable("server.not_ready", "the database takes no writes", why=error.what)
        return None
