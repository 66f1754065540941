"""A database with many parked runs: copies of one that was really started, with its log and its timer.

A million would take too long to start. Each copy has an id, a shard and a number of its own, and checksums that fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
from msgspec.structs import replace

from bench.lists.filling import COLUMNS
from plait.kernel.ids import Millis, RunId, shard_of
from plait.kernel.store import LogRow, RunRow, Store, TimerRow
from plait.stores.log_rows import log_columns
from plait.stores.postgres import PostgresStore
from plait.stores.rows import Row, run_columns
from plait.stores.sqlite import SqliteStore
from plait.stores.sqlite.commit import SQL
from plait.stores.sqlite.database import connect

_PAGE = 20_000
_FAR = Millis(2**53)
_LOG = ("run", "seq", "count", "at", "events", "blobs", "checksum")
_TIMERS = ("run_id", "token", "shard", "due")


def copy_id(place: int) -> str:
    return f"01999999-0000-7000-8000-{place:012x}"


@dataclass(frozen=True)
class Model:
    """A run that waits, as the store has it."""

    row: RunRow
    log: list[LogRow]
    timers: list[TimerRow]

    def rows(self, places: range) -> Iterator[RunRow]:
        for place in places:
            id = RunId(copy_id(place))
            yield replace(self.row, id=id, shard=shard_of(id), created_at=Millis(self.row.created_at + place))

    def logs(self, numbers: range) -> Iterator[Row]:
        """By the runs' numbers in the store."""
        return (log_columns(number, row) for number in numbers for row in self.log)

    def alarms(self, rows: list[RunRow]) -> Iterator[Row]:
        return ((row.id, timer.token, row.shard, timer.due) for row in rows for timer in self.timers)


async def model(store: Store, run_id: RunId) -> Model:
    """It must be the only one that has a timer."""
    await store.open()
    try:
        row = await store.run(run_id)
        assert row is not None
        timers = await store.due([row.shard], _FAR, 10)
        if row.awake or not timers:
            raise RuntimeError(f"the model is not parked: {row}")
        return Model(row, await store.log(run_id), timers)
    finally:
        await store.close()


async def fill_sqlite(path: Path, run_id: RunId, count: int) -> None:
    found = await model(SqliteStore(str(path)), run_id)
    db = connect(str(path), "NORMAL", 5_000)
    first = int(next(iter(db.execute("select max(number) from runs")))[0]) + 1
    for places in _pages(count):
        rows, numbers = list(found.rows(places)), range(first + places.start, first + places.stop)
        with db:
            db.executemany(SQL["insert_run"], map(run_columns, rows))
            db.executemany(SQL["insert_log"], found.logs(numbers))
            db.executemany(SQL["set_timer"], found.alarms(rows))
    db.execute("pragma wal_checkpoint(truncate)")
    db.close()


async def fill_postgres(url: str, run_id: RunId, count: int) -> None:
    found = await model(PostgresStore(url), run_id)
    connection: asyncpg.Connection[Any] = await asyncpg.connect(url)
    first = int(await connection.fetchval("select nextval('plait.run_numbers')"))
    for places in _pages(count):
        rows, numbers = list(found.rows(places)), range(first + places.start, first + places.stop)
        columns = ((*run_columns(row), number) for row, number in zip(rows, numbers, strict=True))
        await _copy(connection, "runs", (*COLUMNS, "number"), columns)
        await _copy(connection, "log", _LOG, found.logs(numbers))
        await _copy(connection, "timers", _TIMERS, found.alarms(rows))
    await connection.execute("select setval('plait.run_numbers', $1)", first + count)
    await connection.execute("vacuum analyze", timeout=3600)
    await connection.close()


async def _copy(connection: asyncpg.Connection[Any], table: str, columns: tuple[str, ...], rows: Iterator[Row]) -> None:
    await connection.copy_records_to_table(table, schema_name="plait", columns=columns, records=rows)


def _pages(count: int) -> Iterator[range]:
    for start in range(0, count, _PAGE):
        yield range(start, min(start + _PAGE, count))
