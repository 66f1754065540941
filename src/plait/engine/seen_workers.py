"""Which workers poll for tasks: recorded at intervals, so that a run can report that no worker would take its task."""

from __future__ import annotations

from collections.abc import Collection

from plait.kernel.clock import Clock
from plait.kernel.ids import Millis
from plait.kernel.store import Store

NOTE_EVERY = 5.0
"""Seconds between two records of one worker."""
RECENTLY = Millis(15_000)
"""Milliseconds without a poll after which a worker no longer counts."""


class SeenWorkers:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._noted: dict[tuple[str, str, tuple[str, ...]], float] = {}

    async def note(self, namespace: str, queues: Collection[str], worker: str) -> None:
        now, who = self._clock.monotonic(), (namespace, worker, tuple(queues))
        if self._noted.get(who, -NOTE_EVERY) + NOTE_EVERY > now:
            return
        self._noted = {each: at for each, at in self._noted.items() if at + NOTE_EVERY > now} | {who: now}
        await self._store.queues.note_worker(namespace, queues, worker)
