import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

from tests.support.postgres import Postgres, PostgresServer

START_A_SERVER_AND_WAIT = """
from tests.support.postgres import PostgresServer
with PostgresServer.start() as server:
    print(server.home, flush=True)
    input()
"""


async def test_a_fresh_database_is_empty_and_answers(postgres_url: str):
    connection = await asyncpg.connect(postgres_url)
    tables = await connection.fetchval("select count(*) from pg_tables where schemaname = 'public'")
    await connection.close()
    assert tables == 0


async def test_a_database_is_a_copy_of_its_template(postgres_server: Postgres):
    template = postgres_server.create_database()
    await run(template, "create table kept as select 42 as answer")
    copy = postgres_server.create_database(template=template.rpartition("/")[2])
    assert await run(copy, "select answer from kept") == 42
    postgres_server.drop_database(copy)
    postgres_server.drop_database(template)


async def test_an_emptied_database_has_no_tables_no_settings_and_no_guests(
    postgres_server: Postgres, postgres_url: str
):
    guest = await asyncpg.connect(postgres_url)
    await guest.execute("create schema old; create table old.kept (x int); create table also_kept (x int)")
    await guest.execute(f'alter database "{postgres_url.rpartition("/")[2]}" set work_mem = 4242')
    postgres_server.empty(postgres_url)
    with pytest.raises(asyncpg.PostgresConnectionError):
        await guest.execute("select 1")
    assert await run(postgres_url, "select count(*) from pg_tables where schemaname in ('old', 'public')") == 0
    assert await run(postgres_url, "show work_mem") != "4242kB"


@pytest.mark.parametrize("end", [PostgresServer.stop, PostgresServer.kill])
async def test_what_was_committed_is_there_after_a_restart(own_postgres: PostgresServer, end):
    url = own_postgres.create_database()
    await run(url, "create table kept as select 42 as answer")
    end(own_postgres)
    with pytest.raises(OSError, match="Connect"):
        await asyncpg.connect(url)
    own_postgres.restart()
    assert await run(url, "select answer from kept") == 42


def test_the_server_ends_when_the_process_that_started_it_is_killed():
    command = [sys.executable, "-c", START_A_SERVER_AND_WAIT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout
        home = Path(owner.stdout.readline().strip())
        assert (home / "data" / "postmaster.pid").exists()
        owner.kill()
        owner.stdout.read()  # the guard shares this pipe: it closes when the guard is done
    assert not home.exists()


async def run(url: str, query: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()
