"""Removing ended runs, on PostgreSQL. Every statement is in `removals.sql`.

A large value is shared by all runs that have it. Whoever writes one locks its row, and so does whoever is about to
delete it: of the two, the second sees what the first has done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from plait.kernel.ids import Millis, RunId
from plait.kernel.removal import EndedPage, EndedQuery
from plait.kernel.store import Write
from plait.stores import statements
from plait.stores.ended_pages import ended_page, start_of

from .database import Connection
from .run_numbers import PostgresRunNumbers

SQL = statements.load("plait.stores.postgres", "removals.sql")

_BY_ID = (
    "remove_labels",
    "remove_texts",
    "remove_inbox",
    "remove_timers",
    "remove_tasks",
    "remove_queued",
    "remove_approvals",
    "remove_dead_letters",
    "remove_lines",
    "remove_snapshots",
    "remove_runs",
)
_BLOBS = 20
"""Large values that are deleted at a time."""


class NotRemovable(Exception):
    """One of the runs is not there, has not ended by then, or is needed."""


class PostgresRemovals:
    def __init__(self, use: Callable[[], AbstractAsyncContextManager[Connection]]) -> None:
        self._use = use

    async def ended(self, query: EndedQuery) -> EndedPage:
        scope = (query.namespace, query.dialect, query.status, query.before)
        async with self._use() as connection:
            found = await connection.fetch(SQL["ended"], *scope, *start_of(query), list(query.shards), query.limit)
        return ended_page(found, query.limit)

    async def shrink(self, run_id: RunId, before: Millis, limit: int) -> int:
        async with self._use() as connection:
            done = await connection.execute(SQL["shrink"], run_id, before, limit)
        return _count(done)

    async def sweep(self, limit: int) -> bool:
        async with self._use() as connection, connection.transaction():
            run = await connection.fetchval(SQL["next_removed"])
            if run is None:
                return False
            deleted = _count(await connection.execute(SQL["remove_events"], run, limit))
            if deleted < limit and not await _sweep_blobs(connection, run):
                await connection.execute(SQL["forget_removed"], run)
            return True


async def write_removals(connection: Connection, numbers: PostgresRunNumbers, writes: Sequence[Write]) -> None:
    """Within a transaction, all or none."""
    wanted = {write.run_id: write.removal for write in writes if write.removal is not None}
    if not wanted:
        return
    found = await connection.fetch(SQL["removable"], list(wanted), list(wanted.values()))
    if len(found) < len(wanted):
        raise NotRemovable
    for name in _BY_ID:
        await connection.execute(SQL[name], list(wanted))
    for run_id in wanted:
        numbers.forget(run_id)


async def write_references(connection: Connection, writes: Sequence[Write]) -> None:
    """Which large values runs need, once they are stored."""
    stored = [(digest, write.run_id) for write in writes for digest, _ in write.blobs]
    if stored:
        await connection.execute(SQL["refer"], *zip(*stored, strict=True))
    shared = [(digest, write.run_id) for write in writes for digest in write.shared]
    if shared:
        await connection.execute(SQL["share"], *zip(*shared, strict=True))


async def _sweep_blobs(connection: Connection, run: int) -> bool:
    """Whether there were any."""
    digests = [row[0] for row in await connection.fetch(SQL["referred"], run, _BLOBS)]
    dropped = _count(await connection.execute(SQL["unrefer"], run, _BLOBS))
    await connection.execute(SQL["remove_blobs"], digests)
    return dropped > 0


def _count(status: str) -> int:
    """Of what a statement did, as the server says it: `DELETE 12`."""
    return int(status.rpartition(" ")[2])
