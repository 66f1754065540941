"""Shards change hands: runs are taken up whose owner is gone, given up in peace, or dropped because they were lost.

Each takeover counts as a recovery of the runs that were awake, because their owner may have died of
one of them. An owner that leaves in peace takes that count back beforehand.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection

from .background import Background
from .callers import Callers
from .clock import Clock, sleep
from .delivery import Delivery
from .errors import LeaseLost, Unavailable
from .ids import Shard
from .inbox import Inbox
from .observer import Observers
from .quarantine import Quarantine
from .queue_watch import QueueWatch
from .run import Run
from .run_cache import RunCache
from .store import SUSPECT_AFTER, RunRow, Store, Write
from .subscriptions import Subscriptions
from .timers import Timers

log = logging.getLogger("plait.kernel")

_AT_ONCE = 64
"""Runs that are loaded together: a store may read them in one go."""
_AWAITED = 2_000
"""Runs that are at work before the engine takes more shards. The rest of a large heap follows beside that: messages
and timers of the other shards must not wait for all of it."""
_PATIENCE = 2.0
"""Seconds for a run that may be what kills the process, before the next one is started."""


class Takeover:
    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        run_cache: RunCache,
        delivery: Delivery,
        inbox: Inbox,
        timers: Timers,
        callers: Callers,
        subscriptions: Subscriptions,
        quarantine: Quarantine,
        queue_watch: QueueWatch,
        background: Background,
        observers: Observers,
    ) -> None:
        self._store = store
        self._clock = clock
        self._run_cache = run_cache
        self._delivery = delivery
        self._inbox = inbox
        self._timers = timers
        self._callers = callers
        self._subscriptions = subscriptions
        self._quarantine = quarantine
        self._queue_watch = queue_watch
        self._background = background
        self._observers = observers

    # -- gaining -------------------------------------------------------------------------------------------------

    async def gained(self, shards: list[Shard]) -> None:
        await self._background.now_or_later(lambda: self._take_up(shards))

    async def _take_up(self, shards: Collection[Shard]) -> None:
        rows = await self._store.recovering(shards)
        if rows:
            log.info("took over %d shards with %d runs under way", len(shards), len(rows))
        sound = [row for row in rows if row.recoveries < SUSPECT_AFTER]
        await self._load(sound[:_AWAITED])
        if len(sound) > _AWAITED:
            self._background.spawn(self._load(sound[_AWAITED:]))
        self._callers.outcomes.look_again(shards)  # the owner before us may have ended a run that is waited for here
        self._subscriptions.gained(shards)
        suspects = [row for row in rows if row.recoveries >= SUSPECT_AFTER]
        if suspects:
            self._background.spawn(self._one_by_one(suspects))
        await self._background.now_or_later(self._inbox.look)
        await self._background.now_or_later(self._timers.look)
        await self._background.now_or_later(self._queue_watch.look)

    async def _load(self, rows: list[RunRow]) -> None:
        for start in range(0, len(rows), _AT_ONCE):
            page = [row for row in rows[start : start + _AT_ONCE] if not self._run_cache.knows(row.id)]
            await asyncio.gather(*(self._delivery.take_over(row, suspect=False) for row in page))

    async def _one_by_one(self, suspects: list[RunRow]) -> None:
        """One of these may be what kills the process; alone, it can't take the others' chances with it."""
        for row in suspects:
            log.warning("run %s was under way each of the last %d times the process died", row.id, row.recoveries)
            if self._run_cache.knows(row.id):
                continue
            await self._delivery.take_over(row, suspect=True)
            waited = self._clock.monotonic()
            while (run := self._run_cache.get(row.id)) is not None and (run.queued or run.state.tasks.running):
                if self._clock.monotonic() - waited > _PATIENCE:
                    break
                await sleep(self._clock, 0.01)

    # -- losing --------------------------------------------------------------------------------------------------

    def lost(self, shards: set[Shard]) -> None:
        self._observers.lost(len(shards))
        self._drop(shards)

    async def leave(self, shards: set[Shard]) -> None:
        """Gives runs up that their next owner can have in peace."""
        left = self._parting([run for run in self._run_cache.all() if run.shard in shards])
        self._drop(shards)
        await self._part(left)

    async def leave_all(self) -> None:
        """The engine closes; the run loop has ended."""
        await self._part(self._parting(self._run_cache.all()))

    def runs_under_way(self) -> Counter[Shard]:
        """Of each shard: those with a task that its next owner would have to begin again."""
        return Counter(run.shard for run in self._run_cache.all() if run.state.tasks.running)

    def _drop(self, shards: set[Shard]) -> None:
        self._quarantine.lost(shards)
        for run in [run for run in self._run_cache.all() if run.shard in shards]:
            if run.create is not None:  # nothing of it is on its way to the disk yet
                self._callers.starts.failed(run.id, LeaseLost())
            self._delivery.drop(run)
        # What ended or was answered there already is not announced again
        self._subscriptions.news()
        self._background.keep_trying(self._callers.replies.look)
        for run_id in list(self._callers.outcomes.waiting):
            self._callers.outcomes.notify(run_id, None)
        self._inbox.look_soon()

    def _parting(self, runs: list[Run]) -> list[Write]:
        """What to note of runs that are left; one that is being committed goes without."""
        return [run.leaving() for run in runs if run.state.tasks.running and not run.queued]

    async def _part(self, writes: list[Write]) -> None:
        """That these were under way says nothing against them. They must not be at work here any more."""
        try:
            if writes:
                await self._store.commit(writes)
        except Unavailable as error:
            log.warning("could not note that %d runs were left in peace: %s", len(writes), error)
