"""A driver on an SQLite file: one table of keys for each run, and one table of alarms for all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

from plait.embedding.driver import KeyValue, Write

_SCHEMA = """
pragma journal_mode = wal;
pragma synchronous = full;
create table if not exists pairs (run text not null, key blob not null, value blob not null, primary key (run, key))
  without rowid;
create table if not exists alarms (run text primary key, due integer not null) without rowid;
"""


class SqliteDriver:
    """The keys of one run in a file that many runs may share."""

    def __init__(self, path: str | Path, workflow_id: str) -> None:
        self._run = workflow_id
        self._db: Any = apsw.Connection(str(path))
        self._db.set_busy_timeout(5_000)
        self._db.execute(_SCHEMA).fetchall()  # a statement is only executed once its result is fetched

    def close(self) -> None:
        self._db.close()

    async def get(self, key: bytes) -> bytes | None:
        row = self._db.execute("select value from pairs where run = ? and key = ?", (self._run, key)).fetchone()
        return None if row is None else row[0]

    async def set(self, key: bytes, value: bytes) -> None:
        await self.batch([(key, value)])

    async def delete(self, key: bytes) -> None:
        await self.batch([(key, None)])

    async def delete_prefix(self, prefix: bytes) -> None:
        await self.batch([(key, None) for key, _ in await self.list(prefix)])

    async def list(self, prefix: bytes) -> list[KeyValue]:
        found = "select key, value from pairs where run = ?1 and key >= ?2 and substr(key, 1, ?3) = ?2 order by key"
        rows = self._db.execute(found, (self._run, prefix, len(prefix)))
        return [(key, value) for key, value in rows]

    async def batch(self, writes: Sequence[Write]) -> None:
        with self._db:
            for key, value in writes:
                if value is None:
                    self._db.execute("delete from pairs where run = ? and key = ?", (self._run, key))
                else:
                    self._db.execute("insert or replace into pairs values (?, ?, ?)", (self._run, key, value))

    async def set_alarm(self, workflow_id: str, wake_at_ms: int) -> None:
        self._db.execute("insert or replace into alarms values (?, ?)", (workflow_id, wake_at_ms))

    async def clear_alarm(self, workflow_id: str) -> None:
        self._db.execute("delete from alarms where run = ?", (workflow_id,))

    def alarms(self, upto_ms: int) -> list[tuple[str, int]]:
        """For the host: workflows that are due by then, and when."""
        rows = self._db.execute("select run, due from alarms where due <= ? order by due", (upto_ms,))
        return [(run, due) for run, due in rows]
