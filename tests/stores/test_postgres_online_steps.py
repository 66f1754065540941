"""Migrations in steps: each is made once, whoever dies in between and whoever works meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from plait.engine.backups import backup
from plait.kernel.errors import InvalidInput, Unavailable
from plait.kernel.ids import RunId
from plait.stores.postgres import PostgresStore, online_steps
from plait.stores.postgres.database import _MIGRATIONS
from tests.contract.stores.builders import create, log_row, must, own_all
from tests.faults.schema_13 import make_schema_13
from tests.stores.looking_in import looking_in, opened_at, until

EXPAND = """
-- expand

-- step (short) a column that old engines know nothing of
alter table plait.runs add column size bigint;
insert into public.made values ('column');

-- step (batches) of what is there
update plait.runs set size = 1 where id in (select id from plait.runs where size is null limit 2);

-- step (alone) found by it
create index concurrently runs_size on plait.runs (size);

-- step (short) whoever adds runs, adds it
alter table plait.runs alter column size set default 1
"""
CONTRACT = """
-- step (short) nobody uses it any more
alter table plait.runs drop column blocked_before
"""


def knows(monkeypatch: pytest.MonkeyPatch, *more: str) -> None:
    found = [*_MIGRATIONS, *((f"later{place}", script) for place, script in enumerate(more))]
    monkeypatch.setattr("plait.stores.postgres.database._MIGRATIONS", found)


async def with_runs(url: str) -> None:
    async with opened_at(url) as store, looking_in(url) as db:
        await create(store, *(f"run-{n}" for n in range(5)))
        await db.execute("create table public.made (what text)")


def test_a_script_is_steps_or_one_piece():
    assert [step.how for step in online_steps.steps_of(EXPAND)] == ["short", "batches", "alone", "short"]
    assert online_steps.steps_of("create table plait.one (x integer)") == []
    with pytest.raises(ValueError, match="sideways"):
        online_steps.steps_of("-- step (sideways) no\nselect 1")


async def test_a_new_database_gets_all_steps_at_once(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    knows(monkeypatch, EXPAND.replace("insert into public.made values ('column');", ""))
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        await create(store, "run")
        assert await db.fetchval("select size from plait.runs") == 1
        assert await db.fetchval("select indisvalid from pg_index where indexrelid = 'plait.runs_size'::regclass")


@pytest.mark.parametrize("done", [0, 1, 2, 3])
async def test_what_a_dead_process_has_done_is_not_done_again(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, done: int
):
    await with_runs(postgres_url)
    steps = online_steps.steps_of(EXPAND)
    broken = [f"-- step ({step.how}) {step.why}\n{step.sql};\n" for step in steps]
    broken[done] = "-- step (short) a crash\nselect 1 / 0;\n"
    knows(monkeypatch, "-- expand\n" + "".join(broken))
    store = PostgresStore(postgres_url)
    with pytest.raises(Exception, match="division by zero"):
        await store.open()
    await store.close()
    knows(monkeypatch, EXPAND)
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        assert await db.fetchval("select count(*) from public.made") == 1
        assert await db.fetchval("select count(*) from plait.runs where size = 1") == 5
        assert (await store.facts())["schema"] == str(len(_MIGRATIONS) + 1)


async def test_an_index_that_was_being_built_in_a_crash_is_built_again(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
):
    await with_runs(postgres_url)
    async with looking_in(postgres_url) as db:
        with pytest.raises(Exception, match="duplicate"):
            await db.execute("create unique index concurrently runs_size on plait.runs (namespace)")
        assert not await db.fetchval("select indisvalid from pg_index where indexrelid = 'plait.runs_size'::regclass")
        knows(monkeypatch, EXPAND)
        async with opened_at(postgres_url):
            assert await db.fetchval("select indisvalid from pg_index where indexrelid = 'plait.runs_size'::regclass")


async def test_a_step_waits_for_a_long_transaction_and_commits_do_not_wait_for_the_step(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
):
    await with_runs(postgres_url)
    async with opened_at(postgres_url) as working, looking_in(postgres_url) as db, looking_in(postgres_url) as other:
        knows(monkeypatch, EXPAND)
        async with other.transaction():
            await other.fetch("select from plait.runs")
            store = PostgresStore(postgres_url)
            opening = asyncio.create_task(store.open())
            waits = "select exists (select from pg_locks where relation = 'plait.runs'::regclass and not granted)"
            for time in range(2):
                await until(db, waits)
                await create(working, f"meanwhile-{time}")
            assert not opening.done()
        await opening
        await store.close()
        assert await db.fetchval("select count(*) from plait.runs where size = 1") == 7


async def test_a_step_that_never_gets_its_lock_says_so(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    await with_runs(postgres_url)
    monkeypatch.setattr(online_steps, "TRIES", 2)
    knows(monkeypatch, EXPAND)
    async with looking_in(postgres_url) as other, other.transaction():
        await other.fetch("select from plait.runs")
        store = PostgresStore(postgres_url)
        with pytest.raises(Unavailable) as caught:
            await store.open()
        await store.close()
    assert caught.value.code == "store.locked"


async def test_the_release_before_works_on_what_was_expanded_and_refuses_what_was_contracted(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
):
    await with_runs(postgres_url)
    async with looking_in(postgres_url) as db:
        await db.execute("alter table plait.runs add column blocked_before text")
    knows(monkeypatch, EXPAND)
    async with opened_at(postgres_url):
        pass
    monkeypatch.undo()
    async with opened_at(postgres_url) as store:
        await create(store, "by the release before")
        assert (await store.facts())["schema"] == str(len(_MIGRATIONS) + 1)
    knows(monkeypatch, EXPAND, CONTRACT)
    async with opened_at(postgres_url):
        pass
    monkeypatch.undo()
    store = PostgresStore(postgres_url)
    with pytest.raises(Unavailable) as caught:
        await store.open()
    await store.close()
    assert caught.value.code == "store.schema_too_new"
    assert str(len(_MIGRATIONS) + 2) in caught.value.what


@pytest.mark.parametrize("done", [0, 1, 2, 3])
async def test_a_log_becomes_a_partition_with_all_it_has_whenever_its_migration_was_cut_off(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, done: int
):
    await make_schema_13(postgres_url)
    async with looking_in(postgres_url) as db:
        await db.execute("""
            insert into plait.runs (id, namespace, dialect, definition, shard, status, awake, depth, labels, start_hash,
                                    created_at)
            values ('run', 'default', 'code', 'order', 3, 'running', true, 0, '{}', '', 1);
            insert into plait.log (run, seq, count, at, events) values (1, 1, 1, 1, '[]'), (1, 2, 1, 1, '[]')
        """)
    make = online_steps._make_short

    async def cut_off(connection: Any, step: Any, place: int) -> None:
        if place > done:
            raise ConnectionResetError
        await make(connection, step, place)

    monkeypatch.setattr(online_steps, "_make_short", cut_off)
    store = PostgresStore(postgres_url)
    with pytest.raises(Unavailable):
        await store.open()
    await store.close()
    monkeypatch.undo()
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        owner = await own_all(store)
        await must(store, owner.write("run", log=log_row(3)))
        assert [row.seq for row in await store.log(RunId("run"))] == [1, 2, 3]
        assert await store.commit([owner.write("run", log=log_row(3))]) == ["conflict"]
        assert await db.fetchval("select count(*) from plait.log_0") == 3
        assert await db.fetchval("select version from plait.schema_version") == 13
        assert await store.integrity() == []


async def test_a_text_search_gets_the_index_that_a_restored_database_lacked(postgres_url: str):
    await make_schema_13(postgres_url)
    async with looking_in(postgres_url) as db:
        await db.execute("drop index plait.run_texts_groups")
        async with opened_at(postgres_url):
            query = "select indisvalid from pg_index where indexrelid = to_regclass('plait.run_texts_groups')"
            assert await db.fetchval(query)


async def test_a_schema_that_is_half_made_is_not_backed_up(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    await with_runs(postgres_url)
    knows(monkeypatch, EXPAND.replace("create index concurrently", "create index concurrently broken by"))
    store = PostgresStore(postgres_url)
    with pytest.raises(Exception, match="syntax"):
        await store.open()
    await store.close()
    with pytest.raises(InvalidInput) as caught:
        await backup(postgres_url, tmp_path / "backup")
    assert caught.value.code == "backup.migrating"
    assert not (tmp_path / "backup").exists()
