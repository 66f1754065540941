"""The PostgreSQL schema: made once, in a room of its own, and refused when it is not ours or too new."""

from contextlib import ExitStack
from typing import Any

import pytest
from msgspec import Raw

from plait.kernel.errors import Unavailable
from plait.kernel.ids import SHARDS, Millis
from plait.stores.postgres import PostgresStore
from tests.contract.stores.builders import approval, create, open_approvals
from tests.stores.looking_in import looking_in, opened_at
from tests.stores.other_process import other_process
from tests.support.postgres import PostgresServer


async def opening_fails(url: str, code: str) -> Unavailable:
    store = PostgresStore(url)
    with pytest.raises(Unavailable) as caught:
        await store.open()
    await store.close()
    assert caught.value.code == code
    assert caught.value.fix
    return caught.value


async def test_everything_is_in_a_schema_of_our_own(postgres_url: str):
    async with opened_at(postgres_url), looking_in(postgres_url) as db:
        found = await db.fetch("select distinct schemaname from pg_tables where schemaname !~ '^(pg_|information_)'")
        assert [row[0] for row in found] == ["plait"]


async def test_a_schema_of_a_newer_plait_is_refused(postgres_url: str):
    async with opened_at(postgres_url):
        pass
    async with looking_in(postgres_url) as db:
        await db.execute("update plait.schema_version set version = 999")
    error = await opening_fails(postgres_url, "store.schema_too_new")
    assert "999" in error.what


async def test_a_schema_of_another_program_is_refused_and_untouched(postgres_url: str):
    async with looking_in(postgres_url) as db:
        await db.execute("create schema plait create table theirs (x integer)")
        await opening_fails(postgres_url, "store.not_plait")
        assert await db.fetchval("select count(*) from pg_tables where schemaname = 'plait'") == 1


async def test_a_migration_that_fails_leaves_nothing_behind(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "plait.stores.postgres.database._MIGRATIONS",
        [("v1", "create table plait.one (x integer)"), ("v2", "select 1 / 0")],
    )
    store = PostgresStore(postgres_url)
    with pytest.raises(Exception, match="division by zero"):
        await store.open()
    await store.close()
    monkeypatch.undo()
    async with opened_at(postgres_url) as store:
        await create(store, "run")


async def test_later_migrations_are_made_on_top_of_earlier_ones(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    async with opened_at(postgres_url) as store:
        await create(store, "run")
        before = (await store.facts())["schema"]
    from plait.stores.postgres.database import _MIGRATIONS

    more = [*_MIGRATIONS, ("later", "create table plait.later (x integer)")]
    monkeypatch.setattr("plait.stores.postgres.database._MIGRATIONS", more)
    async with opened_at(postgres_url) as store:
        assert int((await store.facts())["schema"]) == int(before) + 1


async def test_runs_can_be_read_while_the_indexes_of_lists_are_made(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    from plait.stores.postgres.database import _MIGRATIONS

    locked: list[str] = []

    async def look(connection: Any) -> None:
        rows = await connection.fetch(
            "select relation::regclass::text from pg_locks "
            "where pid = pg_backend_pid() and mode = 'AccessExclusiveLock'"
        )
        locked.extend(row[0] for row in rows)

    monkeypatch.setattr("plait.stores.postgres.database._MIGRATIONS", _MIGRATIONS[:6])
    async with opened_at(postgres_url):
        pass
    monkeypatch.setattr("plait.stores.postgres.database._MIGRATIONS", _MIGRATIONS)
    monkeypatch.setattr("plait.stores.postgres.store.fill_run_texts", look)
    async with opened_at(postgres_url), looking_in(postgres_url) as db:
        indexes = await db.fetch("select indexname from pg_indexes where schemaname = 'plait' and tablename = 'runs'")
    assert "plait.runs" not in locked
    assert {"runs_definition", "runs_newest", "runs_labels", "runs_parent_before"}.isdisjoint(row[0] for row in indexes)
    assert "runs_definition_status" in {row[0] for row in indexes}


async def test_open_questions_of_schema_2_are_open_approvals(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    from plait.stores.postgres.database import _MIGRATIONS

    monkeypatch.setattr("plait.stores.postgres.database._MIGRATIONS", _MIGRATIONS[:2])
    async with opened_at(postgres_url), looking_in(postgres_url) as db:
        await db.execute("""
            insert into plait.questions (id, run_id, namespace, token, title, asked, asked_at, form)
            values ('r:ok', 'r', 'default', 'ok', 'May I?', 'boss', 7, '{"type":"integer"}')
        """)
    monkeypatch.undo()
    async with opened_at(postgres_url) as store:
        expected = approval("r", "ok", title="May I?", by="boss", asked_at=Millis(7), form=Raw(b'{"type":"integer"}'))
        assert await open_approvals(store) == [expected]
        assert (await store.census()).approvals == 1


async def test_processes_that_open_a_new_database_at_once_make_one_schema(postgres_url: str):
    with ExitStack() as stack:
        others = [stack.enter_context(other_process(postgres_url)) for _ in range(4)]
        assert sum(other.claimed for other in others) == SHARDS


async def test_the_facts_say_when_durability_is_not_what_it_should_be(own_postgres: PostgresServer):
    url = own_postgres.create_database()
    async with opened_at(url) as store:
        assert "nothing acknowledged is lost" in (await store.facts())["durability"]
    async with looking_in(url) as db:
        await db.execute(f'alter database "{url.rpartition("/")[2]}" set synchronous_commit = off')
    async with opened_at(url) as store:
        assert "may lose" in (await store.facts())["durability"]
