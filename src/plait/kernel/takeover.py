"""Shards change hands: runs of a previous owner are taken over, released in an orderly way, or dropped because they
were lost.

Each takeover counts as a recovery of the runs that were awake, because one of them may have killed their owner. An
owner that leaves in an orderly way subtracts that count beforehand.
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
"""Runs loaded together: a store may read them in one go."""
_AWAITED = 2_000
"""Runs loaded before the engine takes more shards. The rest of a large backlog follows in the background: messages and
timers of the other shards must not wait for all of it."""
_PATIENCE = 2.0
"""Seconds to wait for a run that may be what kills the process, before the next one is started."""


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
        self._callers.outcomes.look_again(shards)  # the previous owner may have ended a run that callers here wait for
        self._subscriptions.gained(shards)
        suspects = [row for row in rows if row.recoveries >= SUSPECT_AFTER]
        if suspects:
            self._background.spawn(self._one_by_one(suspects))
        await self._background.now_or_later(self._inbox.look)
        await self._background.now_or_later(self._timers.look)
        await self._background.now_or_later(self._queue_watch.look)

    async def _load(self, rows: list[RunRow]) -> None:
        for start in range(0, len(rows), _AT_ONCE):
            page = rows[start : start + _AT_ONCE]
            await asyncio.gather(*(self._delivery.take_over(row, suspect=False) for row in page))

    async def _one_by_one(self, suspects: list[RunRow]) -> None:
        """Loads suspects one at a time: if one kills the process, the others are not affected."""
        for row in suspects:
            log.warning("run %s was under way each of the last %d times the process died", row.id, row.recoveries)
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
        """Releases runs in an orderly way, so that their next owner does not count a recovery."""
        left = self._parting([run for run in self._run_cache.all() if run.shard in shards])
        self._drop(shards)
        await self._part(left)

    async def leave_all(self) -> None:
        """Releases all runs; the engine closes, and the run loop has ended."""
        await self._part(self._parting(self._run_cache.all()))

    def runs_under_way(self) -> Counter[Shard]:
        """Runs per shard with a task that the next owner would have to restart."""
        return Counter(run.shard for run in self._run_cache.all() if run.state.tasks.running)

    def _drop(self, shards: set[Shard]) -> None:
        self._quarantine.lost(shards)
        for run in [run for run in self._run_cache.all() if run.shard in shards]:
            if run.create is not None:  # nothing of it is on its way to disk yet
                self._callers.starts.failed(run.id, LeaseLost())
            self._delivery.drop(run)
        # A run that ended or replied there already is not announced again
        self._subscriptions.news()
        self._background.keep_trying(self._callers.replies.look)
        for run_id in list(self._callers.outcomes.waiting):
            self._callers.outcomes.notify(run_id, None)
        self._inbox.look_soon()

    def _parting(self, runs: list[Run]) -> list[Write]:
        """The writes for released runs; one that is being committed gets none."""
        return [run.leaving() for run in runs if run.state.tasks.running and not run.queued]

    async def _part(self, writes: list[Write]) -> None:
        """Records that these runs were not interrupted by a crash. They must no longer be executing here."""
        try:
            if writes:
                await self._store.commit(writes)
        except Unavailable as error:
            log.warning("could not note that %d runs were left in peace: %s", len(writes), error)
