"""Batched reads: keys requested one by one at the same time are one query.

An engine that takes over shards loads hundreds of runs at once. A round trip for each would cost more than the runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")

_AT_ONCE = 32
"""Most keys in one query: logs may be long."""


class Batched(Generic[T]):
    def __init__(self, read: Callable[[Sequence[str]], Awaitable[Mapping[str, T]]]) -> None:
        self._read = read
        self._wanted: dict[str, list[asyncio.Future[T | None]]] = {}
        self._reading: set[asyncio.Task[None]] = set()
        self._scheduled = False

    async def get(self, key: str) -> T | None:
        """The value of a key; None if there is none."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[T | None] = loop.create_future()
        self._wanted.setdefault(key, []).append(found)
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._flush)
        return await found

    def _flush(self) -> None:
        self._scheduled = False
        wanted, self._wanted = self._wanted, {}
        keys = list(wanted)
        for start in range(0, len(keys), _AT_ONCE):
            page = {key: wanted[key] for key in keys[start : start + _AT_ONCE]}
            task = asyncio.get_running_loop().create_task(self._answer(page), name="plait.postgres.batch")
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def _answer(self, wanted: Mapping[str, list[asyncio.Future[T | None]]]) -> None:
        try:
            found = await self._read(list(wanted))
        except BaseException as error:
            for waiting in wanted.values():
                for future in waiting:
                    if not future.done():
                        future.set_exception(error if isinstance(error, Exception) else asyncio.CancelledError())
            if not isinstance(error, Exception):
                raise
            return
        for key, waiting in wanted.items():
            for future in waiting:
                if not future.done():
                    future.set_result(found.get(key))
