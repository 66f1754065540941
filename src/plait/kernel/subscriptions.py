"""Who watches runs, and when to look again.

A watcher reads the log from its own place; here only its bell is rung. So nothing is missed and nothing comes
twice, however slow the watcher is: the log has each event once, in order. Commits of this process ring at once.
Runs of other owners are looked after by one query for all of them, on each notice of the store and every so often:
PostgreSQL is not asked to send a notice for every step.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Generator
from contextlib import contextmanager

from .clock import Clock
from .errors import Unavailable
from .ids import RunId, Seq, Shard, shard_of
from .leases import Leases
from .store import Store

log = logging.getLogger("plait.kernel")

POLL = 0.25
"""Seconds between looks at runs that others own."""

Bell = asyncio.Event


class Subscriptions:
    def __init__(self, store: Store, clock: Clock, leases: Leases) -> None:
        self._store = store
        self._clock = clock
        self._leases = leases
        self._watched: dict[RunId, set[Bell]] = {}
        self._lists: set[Bell] = set()
        self._others: set[Bell] = set()
        self._heads: dict[RunId, Seq] = {}
        self._looking = False
        self._armed = False
        self._closed = False
        self.any = False
        """Somebody watches."""
        self._looks: set[asyncio.Task[None]] = set()

    @property
    def watchers(self) -> int:
        return sum(map(len, self._watched.values())) + len(self._lists)

    @contextmanager
    def run(self, run_id: RunId) -> Generator[Bell]:
        """A bell that rings when the run has new events, or may have."""
        bell = Bell()
        bells = self._watched.setdefault(run_id, set())
        bells.add(bell)
        self.any = True
        self._arm()
        try:
            yield bell
        finally:
            bells.discard(bell)
            if not bells and self._watched.get(run_id) is bells:
                del self._watched[run_id]
                self._heads.pop(run_id, None)
                self.any = bool(self._watched or self._lists)

    @contextmanager
    def runs(self) -> Generator[Bell]:
        """A bell that rings when a run began, ended, or is stuck."""
        bell = Bell()
        self._lists.add(bell)
        self.any = True
        try:
            yield bell
        finally:
            self._lists.discard(bell)
            self.any = bool(self._watched or self._lists)

    @contextmanager
    def others(self) -> Generator[Bell]:
        """A bell that rings when another process wrote something."""
        bell = Bell()
        self._others.add(bell)
        try:
            yield bell
        finally:
            self._others.discard(bell)

    # -- what rings ----------------------------------------------------------------------------------------------

    def moved(self, run_id: RunId, *, listed: bool) -> None:
        """A write of this process is on disk; `listed` if lists of runs show it."""
        for bell in self._watched.get(run_id, ()):
            bell.set()
        if listed:
            for bell in self._lists:
                bell.set()

    def gained(self, shards: Collection[Shard]) -> None:
        """Runs are ours now. What their last owner wrote just before was not ours to see, and is not looked for any
        more: every watcher of such a run looks himself."""
        for run_id in [run_id for run_id in self._watched if shard_of(run_id) in shards]:
            self.moved(run_id, listed=False)

    def news(self) -> None:
        """Another process wrote something."""
        for bell in (*self._lists, *self._others):
            bell.set()
        self._look_soon()

    async def start(self) -> None:
        """Looks begin with the first watcher."""

    async def stop(self) -> None:
        """Nobody waits any longer: whoever looks again finds the engine closed."""
        self._closed = True
        for look in self._looks:
            look.cancel()
        for bells in (*self._watched.values(), self._lists):
            for bell in bells:
                bell.set()

    def _arm(self) -> None:
        if not self._armed and not self._closed:
            self._armed = True
            self._clock.call_later(POLL, self._tick)

    def _tick(self) -> None:
        self._armed = False
        if self._watched and not self._closed:
            self._look_soon()
            self._arm()

    def _look_soon(self) -> None:
        if not self._looking and not self._closed and any(not self._leases.owns(run_id) for run_id in self._watched):
            self._looking = True
            look = asyncio.get_running_loop().create_task(self._look(), name="plait.subscriptions")
            self._looks.add(look)
            look.add_done_callback(self._looks.discard)

    async def _look(self) -> None:
        foreign = [run_id for run_id in self._watched if not self._leases.owns(run_id)]
        try:
            heads = await self._store.heads(foreign)
        except Unavailable as error:
            log.warning("can't see for now what other engines do: %s", error)
            return
        finally:
            self._looking = False
        for run_id, seq in heads.items():
            if self._heads.get(run_id) != seq and run_id in self._watched:
                self._heads[run_id] = seq
                self.moved(run_id, listed=False)
