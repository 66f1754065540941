"""Facts that only the store knows, read when metrics are scraped, but at most every few seconds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from plait.engine import Engine
from plait.engine.stalled import how_many
from plait.kernel.census import Census
from plait.kernel.errors import PlaitError
from plait.kernel.ids import SHARDS, Millis
from plait.kernel.queued import QueueLength
from plait.kernel.run_queues import RunBacklog

_FRESH = 5.0
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """Facts about the whole store, not only about this engine."""

    census: Census
    engines: int
    unowned: int
    """The number of shards that no live engine holds: their runs stand still."""
    stalled: int
    queues: list[QueueLength]
    run_queues: list[RunBacklog]
    at: Millis
    timer_lag: float
    """Seconds that the oldest timer is overdue."""

    def age_of(self, moment: Millis | None) -> float:
        """Returns the seconds since a moment; 0 if there is none."""
        return 0.0 if moment is None else max(0.0, (self.at - moment) / 1000)


class Counting:
    """Caches the store's facts briefly, so that several scrapers cost no more than one."""

    def __init__(self) -> None:
        self._last: StoreFacts | None = None
        self._until = 0.0
        self._asking = asyncio.Lock()

    async def take(self, engine: Engine) -> StoreFacts | None:
        """Returns the facts; None if the store does not answer in time."""
        async with self._asking:
            now = asyncio.get_running_loop().time()
            if now >= self._until:  # also after a failure: not every scrape should query an unavailable store
                self._last = await _ask(engine)
                self._until = now + _FRESH
            return self._last


async def _ask(engine: Engine) -> StoreFacts | None:
    store, now = engine.kernel.store, engine.kernel.clock.now()
    try:
        async with asyncio.timeout(_PATIENCE):
            census, stalled = await store.census(), await how_many(engine.kernel)
            queues, run_queues = await store.queues.lengths(), await store.run_queues.backlogs()
            owners = [owner for owner in await store.owners() if owner.expires > now]
    except (PlaitError, TimeoutError):
        return None
    return StoreFacts(
        census=census,
        engines=len(owners),
        unowned=max(0, SHARDS - sum(owner.shards for owner in owners)),
        stalled=stalled,
        queues=queues,
        run_queues=run_queues,
        at=now,
        timer_lag=0.0 if census.due is None else max(0.0, (now - census.due) / 1000),
    )
