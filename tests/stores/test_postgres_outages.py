"""PostgreSQL that can't be reached, refuses, or goes and comes back: a clear error meanwhile, then work goes on."""

import asyncio
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from plait.kernel.errors import InvalidInput, PlaitError, Unavailable
from plait.kernel.ids import SHARDS, RunId
from plait.kernel.store import RunFilter
from plait.stores.postgres import PostgresStore
from plait.stores.postgres.database import COMMAND_SECONDS, Address, readable_errors
from plait.stores.postgres.link import Link
from tests.contract.stores.builders import ALL, LONG, approval, create, log_row, must, open_approvals, own_all, run_row
from tests.stores.looking_in import END_CONNECTIONS, WRITER_WAITS, looking_in, opened_at, until
from tests.support.postgres import Postgres, PostgresServer

RUN = RunId("run")


def changed(url: str, *, user: str = "", host: str = "", path: str = "") -> str:
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")
    netloc = f"{user or place[0]}@{host or place[2]}"
    return urlunsplit(parts._replace(netloc=netloc, path=path or parts.path))


async def opening_fails(url: str, code: str) -> PlaitError:
    store = PostgresStore(url)
    with pytest.raises(PlaitError) as caught:
        await store.open()
    await store.close()
    error = caught.value
    assert error.code == code, error
    assert error.what
    assert error.why
    assert error.fix
    assert "s3cret" not in f"{error} {error!r} {error.__cause__}"
    return error


async def test_a_server_that_is_not_there_is_named_without_the_password(postgres_url: str):
    url = changed(postgres_url, user="me:s3cret", host="127.0.0.1:1")
    error = await opening_fails(url, "store.unreachable")
    assert isinstance(error, Unavailable)
    assert "127.0.0.1:1" in error.what
    assert error.fix == "check that the server runs and the address is right"  # and no promise to go on by itself


async def test_a_connection_that_is_cut_inside_a_transaction_is_told_by_its_first_error(postgres_url: str):
    """Not by the rollback, which fails as well."""
    connection = await asyncpg.connect(postgres_url)
    with pytest.raises(Unavailable) as caught, readable_errors(Address(postgres_url)):
        async with connection.transaction():
            await connection.execute("select pg_terminate_backend(pg_backend_pid())")
    assert caught.value.code == "store.unreachable"
    assert "terminating connection" in caught.value.why


async def test_a_host_that_is_unknown_is_unreachable():
    await opening_fails("postgresql://me:s3cret@no-such-host.invalid/db", "store.unreachable")


async def test_a_database_that_does_not_exist_is_named(postgres_url: str):
    error = await opening_fails(changed(postgres_url, path="/no_such_database"), "store.no_database")
    assert "no_such_database" in error.what


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@host:port/db",
        "postgresql://me:s3cret/x@host/db",
        "mysql://me:s3cret@host/db",
        "postgresql://me:s3cret@host/db?sslmode=perhaps",
    ],
)
async def test_an_address_that_can_not_be_used_says_how_to_write_one(url: str):
    error = await opening_fails(url, "store.bad_address")
    assert isinstance(error, InvalidInput)
    assert "postgresql://" in error.fix


async def test_a_wrong_password_is_said_to_be_refused(own_postgres: PostgresServer):
    own_postgres.execute("create role me login password 'right'")
    require_passwords(own_postgres.home)
    await asyncio.to_thread(own_postgres.restart)
    for user in ("me:s3cret", "nobody:s3cret"):
        error = await opening_fails(changed(own_postgres.url, user=user), "store.access_denied")
        assert urlsplit(own_postgres.url).netloc.rpartition("@")[2] in error.what


async def test_a_user_who_may_not_create_the_schema_is_told_what_to_ask_for(
    postgres_server: Postgres, postgres_url: str
):
    async with looking_in(postgres_url) as db:
        await db.execute("drop role if exists plait_guest")
        await db.execute("create role plait_guest login password 'guest'")
        try:
            url = changed(postgres_url, user="plait_guest:guest")
            error = await opening_fails(url, "store.no_permission")
            assert "plait" in error.fix
            await db.execute("create schema plait authorization plait_guest")
            async with opened_at(url) as store:
                await create(store, "run")
        finally:
            await db.execute("drop owned by plait_guest cascade")
            await db.execute("drop role plait_guest")


async def test_a_server_that_goes_away_and_comes_back_is_used_again(own_postgres: PostgresServer):
    url = own_postgres.create_database()
    async with opened_at(url) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", create=run_row(), log=log_row(1)))
        called = asyncio.Event()
        store.watch(called.set)
        await called.wait()

        await asyncio.to_thread(own_postgres.stop)
        for call in (
            store.commit([owner.write("run", log=log_row(2))]),
            store.run(RUN),
            store.runs(RunFilter()),
            store.claim("owner", LONG, SHARDS),
            store.renew("owner", LONG),
            store.release("owner"),
            store.recovering(ALL),
            store.facts(),
        ):
            with pytest.raises(Unavailable) as caught:
                await call
            assert caught.value.code == "store.unreachable"

        called.clear()
        await asyncio.to_thread(own_postgres.restart)
        await must(store, owner.write("run", log=log_row(2)))
        assert await store.log(RUN) == [log_row(1), log_row(2)]
        assert len((await store.renew("owner", LONG)).leases) == SHARDS
        await called.wait()  # notices may have been missed


async def test_a_crash_of_the_server_loses_nothing_that_was_acknowledged(own_postgres: PostgresServer):
    async with opened_at(own_postgres.create_database()) as store:
        owner = await own_all(store)
        names = [f"run-{number}" for number in range(100)]
        await must(store, *(owner.write(name, create=run_row(name), log=log_row(1)) for name in names))
        await asyncio.to_thread(own_postgres.kill)
        await asyncio.to_thread(own_postgres.restart)
        for name in names:
            assert await store.log(RunId(name)) == [log_row(1)]


async def test_a_store_closes_while_the_server_is_away(own_postgres: PostgresServer):
    async with opened_at(own_postgres.create_database()) as store:
        await own_all(store)
        store.watch(lambda: None)
        await asyncio.to_thread(own_postgres.kill)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("rare", [False, True], ids=["common rows", "rare rows"])
async def test_a_commit_that_is_cut_off_may_be_tried_again(postgres_url: str, rare: bool):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db, looking_in(postgres_url) as eye:
        owner = await own_all(store)
        await create(store, "run")
        write = owner.write("run", log=log_row(1), approvals=[approval("run")] if rare else [])
        async with db.transaction():
            await db.execute("select from plait.shards for update")
            commit = asyncio.create_task(store.commit([write]))
            await until(eye, WRITER_WAITS)
            await eye.fetchval(END_CONNECTIONS, "plait writer")
            with pytest.raises(Unavailable) as caught:
                await commit
        assert caught.value.code == "store.unreachable"
        await must(store, write)
        assert await store.commit([write]) == ["conflict"]


async def test_a_caller_who_gives_up_on_a_commit_does_not_harm_the_next(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db, looking_in(postgres_url) as eye:
        owner = await own_all(store)
        await create(store, "run")
        async with db.transaction():
            await db.execute("select from plait.shards for update")
            commit = asyncio.create_task(
                store.commit([owner.write("run", log=log_row(1), approvals=[approval("run")])])
            )
            await until(eye, WRITER_WAITS)
            commit.cancel()
            await asyncio.gather(commit, return_exceptions=True)
        assert commit.cancelled()
        await must(store, owner.write("run", log=log_row(1)))
        assert await open_approvals(store) == []


@pytest.mark.parametrize("turns", range(1, 5))
async def test_what_follows_a_transaction_that_was_cancelled_as_it_began_is_committed(postgres_url: str, turns: int):
    """It used to be inside that transaction, and was lost: `BEGIN` was on its way."""
    link = Link(Address(postgres_url), {})
    async with link.use() as connection:
        await connection.execute("create table kept (number integer)")

    async def write(number: int) -> None:
        async with link.use() as connection, connection.transaction():
            await connection.execute("insert into kept values ($1)", number)

    cancelled = asyncio.ensure_future(write(1))
    for _ in range(turns):
        await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    await write(2)
    async with looking_in(postgres_url) as other:
        assert [row[0] for row in await other.fetch("select number from kept where number = 2")] == [2]
    await link.close()


async def test_reads_beyond_the_pool_wait_for_their_turn(postgres_url: str):
    store = PostgresStore(postgres_url, pool_size=2)
    await store.open()
    await create(store, "run")
    assert await asyncio.gather(*(store.run(RUN) for _ in range(50))) == [run_row()] * 50
    async with looking_in(postgres_url) as db:
        assert await db.fetchval(END_CONNECTIONS, "plait reader") <= 2
    await store.close()


async def test_a_read_only_server_is_named(postgres_url: str):
    async with opened_at(postgres_url), looking_in(postgres_url) as db:
        await db.execute(f'alter database "{urlsplit(postgres_url).path[1:]}" set default_transaction_read_only = on')
    async with opened_at(postgres_url) as store:
        with pytest.raises(Unavailable) as caught:
            await create(store, "run")
        assert caught.value.code == "store.read_only"


def test_without_its_driver_the_store_says_what_to_install():
    script = "import sys; sys.modules['asyncpg'] = None; import plait.stores.postgres"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'plait[postgres]'" in done.stderr
    assert "plait.missing_extra" in done.stderr


def require_passwords(home: Path) -> None:
    (home / "data" / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n")


async def test_a_list_that_takes_too_long_is_cancelled_on_the_server_and_says_so(postgres_url: str):
    """It used to be given up by us only, as `store.unreachable`, and the server went on with it."""
    async with opened_at(postgres_url) as store:
        async with store._use(store._lists) as connection:
            assert await connection.fetchval("show statement_timeout") == f"{COMMAND_SECONDS - 5:.0f}s"
        with pytest.raises(Unavailable) as caught:
            await too_slow(store)
        assert caught.value.code == "store.too_slow"
        assert await store.runs(RunFilter()) == []


async def too_slow(store: PostgresStore) -> None:
    async with store._use(store._lists) as connection:
        await connection.execute("set statement_timeout = 1")
        await connection.fetch("select pg_sleep(60)")
