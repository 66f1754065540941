"""Ownership among many engines on PostgreSQL: who died is seen at once; commits and takeovers wait for each other."""

import asyncio

import pytest

from plait.kernel.approval import ApprovalChange
from plait.kernel.errors import Unavailable
from plait.kernel.ids import SHARDS, Millis, RunId, TaskToken
from plait.kernel.store import Write
from plait.stores.postgres import PostgresStore
from tests.contract.stores.builders import ALL, LONG, NONE, NOW, Owner, create, log_row, must, own_all, run_row
from tests.stores.looking_in import END_CONNECTIONS, WRITER_WAITS, looking_in, opened_at, until
from tests.stores.other_process import other_process

SHARD = run_row("run").shard

HOLDER = """
select pid from pg_locks
where locktype = 'advisory' and granted and (classid::bigint << 32) | objid::bigint = plait.owner_key($1)
"""
LOCKS = "select count(*) from plait.living where key = plait.owner_key($1)"


async def test_the_shards_of_a_killed_process_are_free_at_once(postgres_url: str):
    async with opened_at(postgres_url) as store:
        with other_process(postgres_url) as other:
            assert other.claimed == SHARDS
            assert await store.claim("me", LONG, SHARDS) == []
            other.kill()
            while not (leases := await store.claim("me", LONG, SHARDS)):
                pass  # the server has yet to see that the connection is closed
        assert len(leases) == SHARDS


async def test_a_killed_engine_is_not_counted_any_more(postgres_url: str):
    async with opened_at(postgres_url) as store, opened_at(postgres_url) as other:
        await store.renew("me", LONG)
        assert (await other.renew("other", LONG)).engines == 2
        await other.close()
        async with looking_in(postgres_url) as db:
            await until(db, "select not exists (select from plait.living where key = plait.owner_key('other'))")
        assert (await store.renew("me", LONG)).engines == 1


async def test_an_owner_that_lost_its_connection_and_made_it_again_is_not_taken_for_dead(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two, looking_in(postgres_url) as db:
        await own_all(one, "a")
        before = await db.fetchval(HOLDER, "a")
        assert await db.fetchval(END_CONNECTIONS, "plait listener") == 1
        # The server lets go of a lock some time after it was told to end a connection
        await until(db, f"select ({HOLDER}) <> $2", "a", before)
        assert await two.claim("b", LONG, SHARDS) == []


async def test_an_owner_that_was_taken_for_dead_and_lives_is_fenced(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two:
        zombie = await own_all(one, "a")
        await create(one, "run")
        listener = one._listener
        assert listener is not None
        await listener.unguard("a")
        while not (leases := await two.claim("b", LONG, SHARDS)):
            pass  # within the very millisecond of the last sign of life nobody is taken for dead
        heir = Owner("b", {lease.shard: lease.epoch for lease in leases})
        assert await one.commit([zombie.write("run", log=log_row(1))]) == ["fenced"]
        await must(two, heir.write("run", log=log_row(1)))


async def test_an_owner_not_seen_since_the_server_started_may_yet_come_back(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        started = await db.fetchval("select plait.ms(pg_postmaster_start_time())")
        lease = "update plait.shards set owner = 'a', expires = $1, guarded_at = $2"
        await db.execute(lease, started + LONG, started - 1)
        assert await store.claim("b", LONG, SHARDS) == []
        await db.execute(lease, started + LONG, started + 1)
        assert len(await store.claim("b", LONG, SHARDS)) == SHARDS


async def test_giving_everything_up_gives_the_lock_up(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        await own_all(store, "a")
        assert await db.fetchval(LOCKS, "a") == 1
        await store.release("a", ALL[:3])
        assert await db.fetchval(LOCKS, "a") == 1
        await store.release("a")
        assert await db.fetchval(LOCKS, "a") == 0


async def test_a_second_engine_of_the_same_name_goes_by_time_alone(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two, looking_in(postgres_url) as db:
        await own_all(one, "same")
        await two.renew("same", LONG)
        assert await db.fetchval("select count(guarded_at) from plait.shards") == 0
        await one.close()
        assert (await two.renew("same", LONG)).engines == 1
        assert await db.fetchval("select count(guarded_at) from plait.shards") == SHARDS


@pytest.mark.parametrize("rare", [False, True], ids=["common rows", "rare rows"])
async def test_a_shard_is_not_taken_from_under_a_commit(postgres_url: str, rare: bool):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two, looking_in(postgres_url) as db:
        owner = await own_all(one, "a", NONE)
        await create(one, "run")
        blocker = db.transaction()
        await blocker.start()
        await db.execute(
            "insert into plait.log (run, seq, count, at, events) select number, 1, 1, 0, '[]' from plait.runs"
        )
        approvals = [ApprovalChange("withdrawn", NOW, TaskToken("ask"))] if rare else []
        commit = asyncio.create_task(one.commit([owner.write("run", log=log_row(1), approvals=approvals)]))
        async with looking_in(postgres_url) as eye:
            await until(eye, WRITER_WAITS)
        leases = await two.claim("b", LONG, SHARDS)
        assert {lease.shard for lease in leases} == set(ALL) - {SHARD}
        await blocker.rollback()
        assert await commit == ["ok"]
        assert [lease.shard for lease in await two.claim("b", LONG, SHARDS)][:1] == [SHARD]
        assert await one.commit([owner.write("run", log=log_row(2))]) == ["fenced"]


@pytest.mark.parametrize("rare", [False, True], ids=["common rows", "rare rows"])
async def test_a_commit_waits_for_a_takeover_under_way_and_is_fenced(postgres_url: str, rare: bool):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db, looking_in(postgres_url) as eye:
        owner = await own_all(store)
        await create(store, "run")
        approvals = [ApprovalChange("withdrawn", NOW, TaskToken("ask"))] if rare else []
        async with db.transaction():
            await db.execute("update plait.shards set owner = 'b', epoch = epoch + 1 where shard = $1", SHARD)
            commit = asyncio.create_task(store.commit([owner.write("run", log=log_row(1), approvals=approvals)]))
            await until(eye, WRITER_WAITS)
        assert await commit == ["fenced"]
        assert await store.log(RunId("run")) == []


async def test_engines_that_claim_at_the_same_time_never_get_the_same_shard(postgres_url: str):
    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two, opened_at(postgres_url) as three:
        stores = [one, two, three]
        for store, name in zip(stores, "abc", strict=True):
            await store.renew(name, LONG)
        claims = await asyncio.gather(*(s.claim(n, LONG, 30) for s, n in zip(stores, "abc", strict=True)))
        shards = [lease.shard for leases in claims for lease in leases]
        assert len(shards) == len(set(shards))


async def test_renewals_claims_and_commits_of_two_engines_never_end_in_a_deadlock(postgres_url: str):
    async def work(store: PostgresStore, name: str) -> None:
        leases = await store.claim(name, LONG, SHARDS // 2)
        await create(store, *(f"{name}-{lease.shard}" for lease in leases))
        for number in range(1, 20):
            writes = [
                Write(RunId(f"{name}-{lease.shard}"), lease.shard, lease.epoch, log=log_row(number)) for lease in leases
            ]
            verdicts, _, _ = await asyncio.gather(
                store.commit(writes), store.renew(name, LONG), store.claim(name, LONG, 0)
            )
            assert set(verdicts) == {"ok"}

    async with opened_at(postgres_url) as one, opened_at(postgres_url) as two:
        await asyncio.gather(work(one, "a"), work(two, "b"))


@pytest.mark.parametrize(("lease", "patience"), [(300, "1s"), (2_500, "2500ms"), (LONG, "10s")])
async def test_a_transaction_of_an_engine_that_is_frozen_ends_with_its_lease(
    postgres_url: str, lease: int, patience: str
):
    """What it has locked would keep others from its shards."""
    async with opened_at(postgres_url) as store:
        await store.claim("me", Millis(lease), SHARDS)
        for links in (store._writer, store._readers):
            async with store._use(links) as connection:
                assert await connection.fetchval("show idle_in_transaction_session_timeout") == patience


async def test_a_new_connection_of_an_engine_knows_its_lease(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as db:
        await store.claim("me", Millis(2_500), SHARDS)
        await create(store, "run")
        assert await db.fetchval(END_CONNECTIONS, "plait writer") == 1
        with pytest.raises(Unavailable):
            await create(store, "another")
        async with store._use(store._writer) as connection:
            assert await connection.fetchval("show idle_in_transaction_session_timeout") == "2500ms"
