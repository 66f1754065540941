"""Removing ended runs on SQLite. All statements are in `removals.sql`."""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any, Protocol, TypeVar

import apsw

from plait.kernel.ids import SHARDS, Millis, RunId, Shard
from plait.kernel.removal import EndedPage, EndedQuery
from plait.kernel.store import Write
from plait.stores import statements
from plait.stores.ended_pages import ended_page, start_of
from plait.stores.rows import json_text, labels_of
from plait.stores.run_numbers import RunNumbers

from .database import atomic
from .run_texts import unindex_run

T = TypeVar("T")

SQL = statements.load("plait.stores.sqlite", "removals.sql")

_BY_ID = (
    "remove_inbox",
    "remove_timers",
    "remove_tasks",
    "remove_queued",
    "remove_approvals",
    "remove_dead_letters",
    "remove_lines",
    "remove_snapshot",
)
_BLOBS = 20
"""Large values deleted at a time."""


class NotRemovable(Exception):
    """The run is missing, had not ended by then, or is needed."""


class _Working(Protocol):
    def __call__(self, work: Callable[[apsw.Connection], T], /) -> Awaitable[T]: ...


class SqliteRemovals:
    def __init__(self, write: _Working, read: _Working) -> None:
        self._write = write
        self._read = read

    async def ended(self, query: EndedQuery) -> EndedPage:
        shards = None if len(query.shards) == SHARDS else json_text(sorted(query.shards))
        given = (query.namespace, query.dialect, query.status, query.before, *start_of(query), shards, query.limit)

        def look(db: apsw.Connection) -> list[Any]:
            return db.execute(SQL["ended"], given).fetchall()

        return ended_page(await self._read(look), query.limit)

    async def shrink(self, run_ids: Collection[RunId], before: Millis, limit: int) -> int:
        ids = json_text(list(run_ids))

        def delete(db: apsw.Connection) -> int:
            with atomic(db):
                db.execute(SQL["shrink"], (ids, before, limit))
                return db.changes()

        return await self._write(delete)

    async def sweep(self, limit: int) -> bool:
        return await self._write(lambda db: _sweep(db, limit))

    async def remove_lost_inputs(self, shards: Collection[Shard], before: Millis, limit: int) -> list[RunId]:
        given = (None if len(shards) == SHARDS else json_text(sorted(shards)), before, limit)

        def delete(db: apsw.Connection) -> list[RunId]:
            with atomic(db):
                found: list[Any] = db.execute(SQL["remove_lost_inputs"], given).fetchall()
                return [RunId(run_id) for (run_id,) in found]

        return await self._write(delete)


def write_removal(db: apsw.Connection, numbers: RunNumbers, run_id: RunId, before: Millis) -> None:
    """Removes a run within a transaction."""
    found = db.execute(SQL["removable"], (run_id, before)).fetchone()
    if found is None:
        raise NotRemovable(run_id)
    number, created_at, namespace, labels = found
    unindex_run(db, number, created_at)
    rows = [(namespace, key, value, created_at, run_id) for key, value in labels_of(labels, run_id).items()]
    db.executemany(SQL["remove_label"], rows)
    for name in _BY_ID:
        db.execute(SQL[name], (run_id,))
    db.execute(SQL["note_removed"], (number,))
    db.execute(SQL["remove_run"], (number,))
    numbers.forget(run_id)


def write_references(db: apsw.Connection, write: Write) -> None:
    """Records which large values the run needs, once they are stored."""
    db.executemany(SQL["refer"], [(digest, write.run_id) for digest, _ in write.blobs])
    db.executemany(SQL["share"], [(digest, write.run_id) for digest in write.shared])


def _sweep(db: apsw.Connection, limit: int) -> bool:
    with atomic(db):
        found = db.execute(SQL["next_removed"]).fetchone()
        if found is None:
            return False
        (run,) = found
        db.execute(SQL["remove_events"], (run, limit))
        if db.changes() < limit and not _sweep_blobs(db, run):
            db.execute(SQL["forget_removed"], (run,))
        return True


def _sweep_blobs(db: apsw.Connection, run: int) -> bool:
    """Deletes some large values; returns whether there were any."""
    digests = [row[0] for row in db.execute(SQL["referred"], (run, _BLOBS))]
    db.executemany(SQL["unrefer"], [(digest, run) for digest in digests])
    db.executemany(SQL["remove_blob"], [(digest,) for digest in digests])
    return bool(digests)
