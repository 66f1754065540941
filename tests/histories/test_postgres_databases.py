"""The databases that older Plaits left, on PostgreSQL: brought to today's schema they hold the same."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from plait.kernel.ids import SHARDS, Millis, RunId, Seq
from plait.kernel.store import InboxRow, LogRow, RunFilter, RunRow, Store, Write
from plait.stores.postgres import PostgresStore
from plait.stores.sqlite import SqliteStore
from tests.contract.stores.builders import ALL, log_row
from tests.stores.looking_in import looking_in, opened_at

from .database import DATABASES, file_of

DUMPS = sorted(DATABASES.glob("*.sql"))

OTHER_NAMES = {"full": "is_full"}
BOOLEANS = {("runs", "awake"), ("runs", "full"), ("inbox", "taken")}


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
async def test_it_holds_the_same_as_on_sqlite_and_goes_on(
    dump: Path, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
):
    file, facts = file_of(dump, tmp_path)
    await older_database(postgres_url, facts["schema"], monkeypatch)
    await copy_tables(file, postgres_url)
    sqlite = SqliteStore(str(file))
    await sqlite.open()
    expected = await contents(sqlite)
    await sqlite.close()
    async with opened_at(postgres_url) as store:
        assert await contents(store) == expected
        assert expected[0]
        await goes_on(store)


async def older_database(url: str, schema: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from plait.stores.postgres.database import _MIGRATIONS

    with monkeypatch.context() as context:
        context.setattr("plait.stores.postgres.database._MIGRATIONS", _MIGRATIONS[:schema])
        store = PostgresStore(url)
        await store.open()
        await store.close()


async def copy_tables(file: Path, url: str) -> None:
    db = sqlite3.connect(file)
    async with looking_in(url) as postgres:
        for table in ("runs", "log", "snapshots", "inbox", "timers", "dead_letters", "blobs"):
            found = db.execute(f"select * from {table}")
            names = [column[0] for column in found.description]
            rows = [[_cell(table, name, cell) for name, cell in zip(names, row, strict=True)] for row in found]
            places = ", ".join(_place(table, name, index + 1) for index, name in enumerate(names))
            columns = ", ".join(OTHER_NAMES.get(name, name) for name in names)
            await postgres.executemany(f"insert into plait.{table} ({columns}) values ({places})", rows)
            if "number" in names:
                await postgres.execute("select setval('plait.run_numbers', max(number)) from plait.runs")
    db.close()


def _cell(table: str, name: str, cell: Any) -> Any:
    return bool(cell) if (table, name) in BOOLEANS else cell


def _place(table: str, name: str, number: int) -> str:
    return f"${number}::text::jsonb" if (table, name) == ("runs", "labels") else f"${number}"


async def contents(store: Store) -> tuple[list[RunRow], dict[RunId, list[LogRow]], dict[RunId, Seq], list[InboxRow]]:
    runs = await store.runs(RunFilter(limit=1_000))
    ids = [run.id for run in runs]
    logs = {run_id: await store.log(run_id) for run_id in ids}
    return runs, logs, await store.heads(ids), await store.inbox(ALL, 1_000)


async def goes_on(store: Store) -> None:
    """Every run that is there takes its next event, and a new one does not get in their way."""
    epochs = {lease.shard: lease.epoch for lease in await store.claim("heir", Millis(60_000), SHARDS)}
    runs = await store.runs(RunFilter(limit=1_000))
    heads = await store.heads([run.id for run in runs])
    new = RunRow(id=RunId("new"), namespace="default", dialect="code", definition="new", shard=runs[0].shard)
    writes = [Write(run.id, run.shard, epochs[run.shard], log=log_row(heads[run.id] + 1)) for run in runs]
    assert set(await store.commit([*writes, Write(new.id, new.shard, None, create=new, log=log_row(1))])) == {"ok"}
    after = await store.heads([run.id for run in runs] + [new.id])
    assert after == {run_id: seq + 1 for run_id, seq in heads.items()} | {new.id: 1}
