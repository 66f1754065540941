import asyncio
from collections.abc import Iterator

import asyncpg
import pytest

from plait.stores.postgres import PostgresStore
from tests.support.postgres import Postgres
from tests.support.postgres_tables import PlaitDatabase

TABLE = "select 'plait.shards'::regclass::oid::int"
SHARDS = "select count(*) || ' ' || count(owner) from plait.shards"


@pytest.fixture
def database(postgres_server: Postgres) -> Iterator[PlaitDatabase]:
    database = PlaitDatabase(postgres_server)
    database.renew()
    yield database
    database.drop()


async def test_a_renewed_database_has_the_same_tables_with_the_rows_of_a_new_one(database: PlaitDatabase):
    table, shards = await ask(database, TABLE), await ask(database, SHARDS)
    await ask(database, "update plait.shards set owner = 'me'")
    await ask(database, "delete from plait.shards where shard < 9")
    await ask(
        database,
        "insert into plait.blobs (digest, body) select n::text, repeat('x', 99)::bytea from generate_series(1, 3000) n",
    )
    assert await ask(database, "select nextval(pg_get_serial_sequence('plait.inbox', 'id'))") == 1
    await asyncio.to_thread(database.renew)
    assert await ask(database, SHARDS) == shards == "64 0"
    assert await ask(database, "select count(*) from plait.blobs") == 0
    assert await ask(database, "select nextval(pg_get_serial_sequence('plait.inbox', 'id'))") == 1
    assert await ask(database, TABLE) == table


@pytest.mark.parametrize(
    "change",
    [
        "alter table plait.shards add column extra int",
        "alter table plait.shards alter column owner set default 'me'",
        "drop index plait.timers_due",
        "create or replace function plait.ms(moment timestamptz) returns bigint language sql as 'select 1::bigint'",
        "create table public.other (x int)",
        "drop schema plait cascade",
    ],
)
async def test_a_database_that_was_changed_is_made_anew(database: PlaitDatabase, change: str):
    table = await ask(database, TABLE)
    await ask(database, change)
    await asyncio.to_thread(database.renew)
    assert await ask(database, TABLE) != table
    assert await ask(database, SHARDS) == "64 0"
    store = PostgresStore(database.url)
    await store.open()
    await store.close()


async def test_settings_and_guests_are_gone(database: PlaitDatabase):
    guest = await asyncpg.connect(database.url)
    await guest.execute(f'alter database "{database.url.rpartition("/")[2]}" set work_mem = 4242')
    await asyncio.to_thread(database.renew)
    assert guest.is_closed()
    assert await ask(database, "show work_mem") != "4242kB"


async def ask(database: PlaitDatabase, query: str) -> object:
    connection = await asyncpg.connect(database.url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()
