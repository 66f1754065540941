"""Attempts of this process that wait until an entry of their journal is on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from .errors import LeaseLost
from .ids import RunId, TaskToken
from .inputs import KeepEntry
from .ready_queue import ReadyQueue
from .run_cache import RunCache
from .task import Attempt
from .unit_of_work import KeptEntry


class JournalWaiters:
    def __init__(self, queue: ReadyQueue, run_cache: RunCache) -> None:
        self._queue = queue
        self._run_cache = run_cache
        self._waiting: dict[tuple[RunId, TaskToken, int, int], asyncio.Future[None]] = {}

    async def keep(self, attempt: Attempt, entry: KeepEntry) -> None:
        """Records an entry and waits for its commit. If the run is dropped meanwhile, the attempt is cancelled, and
        this call with it."""
        run = self._run_cache.get(attempt.run_id)
        if run is None:
            raise LeaseLost
        place = attempt.run_id, entry.token, entry.attempt, entry.index
        done = self._waiting[place] = asyncio.get_running_loop().create_future()
        self._queue.post(run, entry)
        try:
            await done
        finally:
            del self._waiting[place]

    def came(self, run_id: RunId, kept: Iterable[KeptEntry]) -> None:
        for each in kept:
            done = self._waiting.get((run_id, each.token, each.attempt, each.index))
            if done is None or done.done():
                continue
            if each.refusal is None:
                done.set_result(None)
            else:
                done.set_exception(each.refusal)
