"""Removing ended runs on PostgreSQL. All statements are in `removals.sql`.

A large value is shared by all runs that have it. Writing one locks its row, and so does deleting it: of the two, the
second sees what the first has done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager

from plait.kernel.ids import Millis, RunId, Shard
from plait.kernel.removal import EndedPage, EndedQuery
from plait.kernel.store import Write
from plait.stores import statements
from plait.stores.ended_pages import ended_page, start_of

from .database import Connection
from .log_partitions import LogPartitions, Range
from .run_numbers import PostgresRunNumbers

SQL = statements.load("plait.stores.postgres", "removals.sql")
TEXTS = statements.load("plait.stores.postgres", "run_texts.sql")

_BLOBS = 20
"""Large values deleted at a time."""
_RUNS = 200
"""Removed runs whose events are deleted at a time, if they are not too many."""


class NotRemovable(Exception):
    """One of the runs is missing, had not ended by then, or is needed."""


class PostgresRemovals:
    def __init__(self, use: Callable[[], AbstractAsyncContextManager[Connection]]) -> None:
        self._use = use
        self.partitions = LogPartitions(use)
        self._left: list[Range] = []
        """Ranges that this round has not processed yet."""

    async def ended(self, query: EndedQuery) -> EndedPage:
        scope = (query.namespace, query.dialect, query.status, query.before)
        async with self._use() as connection:
            found = await connection.fetch(SQL["ended"], *scope, *start_of(query), list(query.shards), query.limit)
        return ended_page(found, query.limit)

    async def shrink(self, run_ids: Collection[RunId], before: Millis, limit: int) -> int:
        async with self._use() as connection:
            done = await connection.execute(SQL["shrink"], list(run_ids), before, limit)
        return _count(done)

    async def sweep(self, limit: int) -> bool:
        if not self._left:
            self._left = await self.partitions.tend()
        async with self._use() as connection:
            while self._left:
                if await _sweep(connection, self._left[-1], limit):
                    return True
                self._left.pop()
        return False

    async def remove_lost_inputs(self, shards: Collection[Shard], before: Millis, limit: int) -> list[RunId]:
        async with self._use() as connection:
            found = await connection.fetch(SQL["remove_lost_inputs"], list(shards), before, limit)
        return [RunId(row[0]) for row in found]


async def _sweep(connection: Connection, numbers: Range, limit: int) -> bool:
    """Deletes some events of removed runs; False: there are none."""
    async with connection.transaction():
        runs = [row[0] for row in await connection.fetch(SQL["next_removed"], *numbers, _RUNS)]
        if runs:
            deleted = _count(await connection.execute(SQL["remove_events"], runs, limit))
            if deleted < limit and not await _sweep_blobs(connection, runs):
                await connection.execute(TEXTS["lock_texts"])  # readers from before the removal have written by now
                await connection.execute(SQL["remove_late_texts"], runs)
                await connection.execute(SQL["forget_removed"], runs)
        return bool(runs)


async def write_removals(connection: Connection, numbers: PostgresRunNumbers, writes: Sequence[Write]) -> None:
    """Removes runs within a transaction, all or none."""
    wanted = {write.run_id: (write.removal, write.shard) for write in writes if write.removal is not None}
    if not wanted:
        return
    found = await connection.fetch(SQL["removable"], list(wanted), *zip(*wanted.values(), strict=True))
    if len(found) < len(wanted):
        raise NotRemovable
    await connection.execute(SQL["remove_runs"], list(wanted))
    for run_id in wanted:
        numbers.forget(run_id)


async def write_references(connection: Connection, writes: Sequence[Write]) -> None:
    """Records which large values runs need, once they are stored."""
    stored = [(digest, write.run_id) for write in writes for digest, _ in write.blobs]
    if stored:
        await connection.execute(SQL["refer"], *zip(*stored, strict=True))
    shared = [(digest, write.run_id) for write in writes for digest in write.shared]
    if shared:
        await connection.execute(SQL["share"], *zip(*shared, strict=True))


async def _sweep_blobs(connection: Connection, runs: Sequence[int]) -> bool:
    """Deletes some large values; returns whether there were any."""
    digests = [row[0] for row in await connection.fetch(SQL["referred"], runs, _BLOBS)]
    if digests:
        await connection.execute(SQL["hold_blobs"], digests)
        await connection.execute(SQL["unrefer"], runs, digests)
        await connection.execute(SQL["remove_blobs"], digests)
    return bool(digests)


def _count(status: str) -> int:
    """The number of rows in a command tag such as `DELETE 12`."""
    return int(status.rpartition(" ")[2])
