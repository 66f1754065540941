"""The SQLite store in memory, able to fail on purpose.

It outlives the engines that use it, as a disk does: a crash is simulated by dropping an engine and opening another on
the same store. Commits stay on the event loop's thread, so that a simulation is repeatable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import apsw

from plait.kernel.clock import Clock
from plait.kernel.store import Verdict, Write
from plait.stores.run_numbers import RunNumbers
from plait.stores.sqlite import SqliteStore
from plait.stores.sqlite.commit import commit

from . import database

Moment = Literal["before", "inside", "after"]
"""Moments of a commit. `before`: nothing is written. `inside`: everything is written, then rolled back. `after`: it is
committed, but the answer is lost."""

Faults = Callable[[Moment, Sequence[Write]], None]
"""Called at each moment of each commit; the caller gets the exception it raises."""


class MemoryStore(SqliteStore):
    def __init__(self, *, clock: Clock | None = None, faults: Faults | None = None) -> None:
        super().__init__(database.PATH, clock=clock)
        self.faults = faults

    @property
    def faults(self) -> Faults | None:
        return self._faults

    @faults.setter
    def faults(self, faults: Faults | None) -> None:
        self._faults = faults
        self._apply = commit if faults is None else partial(_commit_or_fail, faults)

    async def open(self) -> None:
        if self._db is None:
            self._db = self._reader = database.take()

    async def close(self) -> None:
        """Keeps everything for the next engine."""

    async def integrity(self) -> list[str]:
        """There is no file to be damaged."""
        return []

    async def dispose(self) -> None:
        """Really closes: everything is gone."""
        db, self._db, self._reader = self._db, None, None
        if db is not None:
            database.give_back(db)
        self._numbers = RunNumbers()
        await super().close()

    async def _choose_thread(self) -> None:
        """Never moves: commits stay on the event loop's thread."""

    def watch(self, callback: Callable[[], None], shown: Callable[[], None] | None = None) -> None:
        """There is no other process."""


def _commit_or_fail(faults: Faults, db: apsw.Connection, numbers: RunNumbers, writes: Sequence[Write]) -> list[Verdict]:
    def inside() -> bool:
        faults("inside", writes)
        return False  # go ahead

    faults("before", writes)
    db.set_commit_hook(inside)
    try:
        verdicts = commit(db, numbers, writes)
    finally:
        db.set_commit_hook(None)
    faults("after", writes)
    return verdicts
