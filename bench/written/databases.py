"""The databases whose writes are counted, and how each is filled with runs that have ended.

The rows are made by the database itself, from a run that is there: 500,000 runs would take too long to run. Their ids
are in order, as those that the engine gives, or random, as a caller's may be.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

import apsw
import asyncpg

ROWS_OF_A_RUN = 11
"""Of its log: the start, and each of ten steps with what follows from it."""

Ids = Literal["ordered", "random"]

_SQLITE_RUNS = """
with recursive n (i) as (select 1 union all select i + 1 from n where i < ?1)
insert into runs (id, namespace, dialect, definition, version, shard, status, awake, depth, labels, start_hash,
                  created_at, ended_at, output)
select case ?2 when 'random' then lower(hex(randomblob(16))) else printf('00000000-%012d', i) end, namespace, dialect,
       definition, version, i % 64, status, awake, depth, labels, start_hash, created_at + i, ended_at + i, output
from (select * from runs limit 1), n
"""

_SQLITE_LOGS = """
with recursive s (seq) as (select 1 union all select seq + 1 from s where seq < ?1)
insert into log (run, seq, count, at, events)
select number, seq, 1, created_at, '[]' from runs, s
where not exists (select 1 from log where run = number)
"""

_POSTGRES_RUNS = """
insert into plait.runs (id, namespace, dialect, definition, version, shard, status, awake, depth, labels, start_hash,
                        created_at, ended_at, output)
select case $2 when 'random' then md5(random()::text) else '00000000-' || lpad(i::text, 12, '0') end, namespace,
       dialect, definition, version, i % 64, status, awake, depth, labels, start_hash, created_at + i,
       ended_at + i, output
from (select * from plait.runs limit 1) as model, generate_series(1, $1::integer) as i
"""

_POSTGRES_LOGS = """
insert into plait.log (run, seq, count, at, events)
select number, seq, 1, created_at, '[]' from plait.runs, generate_series(1, $1::integer) as seq
where not exists (select from plait.log where run = number)
"""


class Database(Protocol):
    url: str

    async def fill(self, runs: int, ids: Ids) -> None:
        """With runs that have ended."""
        ...

    async def written(self) -> int:
        """Bytes so far; on SQLite with those that the next checkpoint would write."""
        ...


class Sqlite:
    """Counts what this process hands to the operating system: the engine under test is in it, and nothing else is."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "plait.db"
        self.url = f"sqlite:///{self._path}"

    async def fill(self, runs: int, ids: Ids) -> None:
        db = apsw.Connection(str(self._path))
        db.execute("begin immediate")
        db.execute(_SQLITE_RUNS, (runs, ids))
        db.execute(_SQLITE_LOGS, (ROWS_OF_A_RUN,))
        db.execute("commit")
        db.close()

    async def written(self) -> int:
        db = apsw.Connection(str(self._path))
        db.execute("pragma wal_checkpoint(full)").fetchall()
        db.close()
        return _handed_over()


class Postgres:
    """Counts the write-ahead log."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def fill(self, runs: int, ids: Ids) -> None:
        db = await asyncpg.connect(self.url)
        await db.execute(_POSTGRES_RUNS, runs, ids, timeout=600)
        await db.execute(_POSTGRES_LOGS, ROWS_OF_A_RUN, timeout=600)
        await db.execute("vacuum analyze", timeout=600)
        await db.close()

    async def written(self) -> int:
        db = await asyncpg.connect(self.url)
        found: int = await db.fetchval("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")
        await db.close()
        return found


def _handed_over() -> int:
    """Bytes that this process gave to `write` and its like."""
    return int(dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())["wchar"])
