"""Taking up runs whose owner is gone, and leaving runs to the next owner in peace.

Each takeover counts as a recovery of the runs that were awake, because their owner may have died of
one of them. An owner that leaves in peace takes that count back beforehand.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection

from .clock import Clock
from .errors import Unavailable
from .ids import Shard
from .run import Run
from .run_cache import RunCache
from .store import SUSPECT_AFTER, RunRow, Store, Write

log = logging.getLogger("plait.kernel")

_PATIENCE = 2.0
"""Seconds for a run that may be what kills the process, before the next one is started."""

Load = Callable[[RunRow, bool], Awaitable[None]]
"""Brings a run into memory; True: it is suspect."""


class Recovery:
    def __init__(
        self, store: Store, clock: Clock, roster: RunCache, load: Load, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._store = store
        self._clock = clock
        self._run_cache = roster
        self._load = load
        self._sleep = sleep

    async def take_up(self, shards: Collection[Shard]) -> list[RunRow]:
        """Loads what was under way there; returns those that must be started one by one."""
        rows = await self._store.recovering(shards)
        if rows:
            log.info("took over %d shards with %d runs under way", len(shards), len(rows))
        for row in rows:
            if row.recoveries < SUSPECT_AFTER and not self._run_cache.knows(row.id):
                await self._load(row, False)
        return [row for row in rows if row.recoveries >= SUSPECT_AFTER]

    async def one_by_one(self, suspects: list[RunRow]) -> None:
        """One of these may be what kills the process; alone, it can't take the others' chances with it."""
        for row in suspects:
            log.warning("run %s was under way each of the last %d times the process died", row.id, row.recoveries)
            if self._run_cache.knows(row.id):
                continue
            await self._load(row, True)
            waited = self._clock.monotonic()
            while (run := self._run_cache.get(row.id)) is not None and (run.queued or run.state.tasks.running):
                if self._clock.monotonic() - waited > _PATIENCE:
                    break
                await self._sleep(0.01)

    def parting(self, runs: list[Run]) -> list[Write]:
        """What to note of runs that are left; one that is being committed goes without."""
        return [run.leaving() for run in runs if run.state.tasks.running and not run.queued]

    async def part(self, writes: list[Write]) -> None:
        """That these were under way says nothing against them. They must not be at work here any more."""
        try:
            if writes:
                await self._store.commit(writes)
        except Unavailable as error:
            log.warning("could not note that %d runs were left in peace: %s", len(writes), error)
