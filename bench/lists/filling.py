"""A database with many runs, made by direct inserts: the same rows on SQLite and PostgreSQL.

One run in fifty has failed, one in a thousand still runs; half have ids that a caller chose; each has two labels, one
that all share. They belong to three namespaces, most of them to `default`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import asyncpg
from msgspec.structs import replace

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, run_key, shard_of
from plait.kernel.store import RunRow
from plait.stores.postgres import PostgresStore
from plait.stores.postgres.run_texts import fill_run_texts
from plait.stores.rows import label_columns, run_columns
from plait.stores.sqlite import SqliteStore
from plait.stores.sqlite.commit import SQL
from plait.stores.sqlite.database import connect
from plait.stores.sqlite.run_texts import index_new_runs

FIRST = Millis(1_700_000_000_000)
DEFINITIONS = 20
CUSTOMERS = 50_000
_PAGE = 20_000
COLUMNS = (
    *("id", "namespace", "dialect", "definition", "version", "shard", "status", "awake"),
    *("parent", "parent_token", "depth", "labels", "start_hash", "created_at"),
    *("ended_at", "deadline", "output", "error", "blocked"),
    *("recoveries", "is_full", "waiting", "past"),
)
"""As `run_columns` gives them."""


def made(count: int) -> Iterator[RunRow]:
    for number in range(count):
        space = {7: "acme", 9: "globex"}.get(number % 20, DEFAULT_NAMESPACE)
        name = f"order-{number}" if number % 2 else f"01999999-0000-7000-8000-{number:012x}"
        key = run_key(space, name)
        row = RunRow(
            id=key,
            namespace=space,
            dialect="code",
            definition=f"definition_{number % DEFINITIONS}",
            shard=shard_of(key),
            status="completed",
            awake=False,
            labels={"env": "prod", "customer": f"customer-{number % CUSTOMERS}"},
            created_at=Millis(FIRST + number),
            ended_at=Millis(FIRST + number + 5),
        )
        yield _varied(row, number)


def _varied(row: RunRow, number: int) -> RunRow:
    if number % 50 == 3:
        error = ErrorInfo("task.failed", f"card {number} was declined by bank {number % 10}", type="CardError")
        return replace(row, status="failed", error=error)
    if number % 1000 == 5:
        return replace(row, status="running", ended_at=None)
    return row


async def fill_sqlite(path: str, count: int) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.close()
    db = connect(path, "NORMAL", 5_000)
    for rows in _pages(count):
        with db:
            db.executemany(SQL["insert_run"], map(run_columns, rows))
            db.executemany(SQL["insert_label"], [label for row in rows for label in label_columns(row)])
            index_new_runs(db)
    db.execute("pragma wal_checkpoint(truncate)")
    db.close()


async def fill_postgres(url: str, count: int) -> None:
    store = PostgresStore(url)
    await store.open()
    await store.close()
    connection: asyncpg.Connection[Any] = await asyncpg.connect(url)
    await connection.execute("drop index plait.run_texts_groups")
    await connection.execute("set maintenance_work_mem = '512MB'")
    for rows in _pages(count):
        columns = map(run_columns, rows)
        await connection.copy_records_to_table("runs", schema_name="plait", columns=COLUMNS, records=columns)
        labels = [label for row in rows for label in label_columns(row)]
        await connection.copy_records_to_table("run_labels", schema_name="plait", records=labels)
    await connection.execute("insert into plait.due_texts (run) select number from plait.runs", timeout=3600)
    await fill_run_texts(connection)
    await connection.execute("vacuum analyze", timeout=3600)
    await connection.close()


def _pages(count: int) -> Iterator[list[RunRow]]:
    rows = made(count)
    while page := list(islice(rows, _PAGE)):
        yield page
