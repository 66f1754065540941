"""Subscriptions: watchers of runs, and when they should read again.

A watcher reads the log from its own position; here only its bell is rung. So nothing is missed and nothing comes twice,
however slow the watcher is: the log has each event once, in order. Commits of this process ring at once. Runs of other
owners are polled by one query for all of them, on each notification of the store and at intervals: PostgreSQL does not
send a notification for every step.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager

from .clock import Clock
from .errors import Unavailable
from .ids import RunId, Seq, Shard
from .leases import Leases
from .machine import RunInfo
from .store import RunPatch, RunRow, Store, Write

log = logging.getLogger("plait.kernel")

POLL = 0.25
"""Seconds between polls of runs that others own."""

_REMEMBERED = 1_000
"""Changed runs kept for a watcher of a list; beyond that, reading again costs less than comparing them."""

Bell = asyncio.Event


class ListBell(Bell):
    """Rings when runs changed, and carries their current rows: most changes are irrelevant to most lists."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[RunRow] = []
        self._unsure = True

    def ring(self, rows: Sequence[RunRow] | None) -> None:
        """Notes changed rows; None: something unknown changed."""
        if rows is None or len(self._rows) + len(rows) > _REMEMBERED:
            self._rows.clear()
            self._unsure = True
        elif not self._unsure:
            self._rows += rows
        self.set()

    def take(self) -> list[RunRow] | None:
        """The changes since the last call; None: read everything."""
        found = None if self._unsure else self._rows
        self._rows, self._unsure = [], False
        self.clear()
        return found


class Subscriptions:
    def __init__(self, store: Store, clock: Clock, leases: Leases) -> None:
        self._store = store
        self._clock = clock
        self._leases = leases
        self._watched: dict[RunId, set[Bell]] = {}
        self._lists: set[ListBell] = set()
        self._others: set[Bell] = set()
        self._heads: dict[RunId, Seq] = {}
        self._looking = False
        self._armed = False
        self._closed = False
        self.any = False
        """Whether there are watchers."""
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
    def runs(self) -> Generator[ListBell]:
        """A bell that rings when a run started, ended, or is stuck."""
        bell = ListBell()
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

    def committed(self, write: Write, info: RunInfo | None = None) -> None:
        """A write of this process is on disk; without `info`, of a run that this process may not know."""
        self.moved(write.run_id)
        if write.removal is not None:
            for bell in self._lists:
                bell.ring(None)
        elif self._lists and (write.create is not None or write.patch is not None or write.children):
            rows = shown_rows(write, info)
            for bell in self._lists:
                bell.ring(rows)

    def moved(self, run_id: RunId) -> None:
        """A run has new events, or may have."""
        for bell in self._watched.get(run_id, ()):
            bell.set()

    def gained(self, shards: Collection[Shard]) -> None:
        """We own these shards now. The last writes of their previous owner were not visible to us and are no longer
        polled: wakes every watcher of such a run."""
        for run_id in [run_id for run_id in self._watched if self._leases.shard_of(run_id) in shards]:
            self.moved(run_id)

    def news(self) -> None:
        """Another process wrote something."""
        for bell in self._lists:
            bell.ring(None)
        for bell in self._others:
            bell.set()
        self._look_soon()

    async def start(self) -> None:
        """Nothing to do: polling starts with the first watcher."""

    async def stop(self) -> None:
        """Wakes all watchers: they find the engine closed."""
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
        if not self._looking and not self._closed and any(map(self._leases.may_be_elsewhere, self._watched)):
            self._looking = True
            look = asyncio.get_running_loop().create_task(self._look(), name="plait.subscriptions")
            self._looks.add(look)
            look.add_done_callback(self._looks.discard)

    async def _look(self) -> None:
        foreign = list(filter(self._leases.may_be_elsewhere, self._watched))
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
                self.moved(run_id)


def shown_rows(write: Write, info: RunInfo | None) -> list[RunRow] | None:
    """The rows of runs that a write created or changed, with the fields that lists filter by; None if unknown."""
    rows = [child.row for child in write.children]
    if write.create is not None:
        rows.append(write.create)
    elif write.patch is not None:
        if info is None:
            return None
        rows.append(_row_of(info, write.shard, write.patch))
    return rows


def _row_of(info: RunInfo, shard: Shard, patch: RunPatch) -> RunRow:
    return RunRow(
        id=info.run_id,
        namespace=info.namespace,
        dialect=info.dialect,
        definition=info.definition,
        shard=shard,
        status=patch.status,
        awake=patch.awake,
        parent=info.parent,
        labels=dict(info.labels),
        created_at=info.created_at,
        error=patch.error,
        blocked=patch.blocked,
        waiting=patch.waiting,
    )
