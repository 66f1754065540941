"""Callers that wait for the answer to an input they sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from .ids import RunId
from .store import Store, Taken


class Replies:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[tuple[RunId, str], asyncio.Future[Taken]] = {}

    async def ask(self, run_id: RunId, key: str, send: Callable[[], Awaitable[None]]) -> Taken:
        """Sends, and waits until the run's owner, here or elsewhere, has answered."""
        future = self._waiting.setdefault((run_id, key), asyncio.get_running_loop().create_future())
        try:
            await send()
            found = await self._store.reply(run_id, key)
            return found if found is not None else await future
        finally:
            self._waiting.pop((run_id, key), None)

    def came(self, run_id: RunId, taken: Taken) -> None:
        future = self._waiting.get((run_id, taken.key))
        if future is not None and not future.done():
            future.set_result(taken)

    async def look(self) -> None:
        """An owner in another process may have answered."""
        for run_id, key in list(self._waiting):
            taken = await self._store.reply(run_id, key)
            if taken is not None:
                self.came(run_id, taken)

    def abandon(self, error: Exception) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(error)
                future.exception()  # whoever waits may have given up already
