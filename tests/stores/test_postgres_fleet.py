"""Runs that move to a pool on PostgreSQL: with all that waits for them, once, and only by their owner."""

import asyncpg

from plait.kernel.fleet import POOL_SHARDS, Pool
from plait.kernel.ids import SHARDS, Millis, RunId, Shard
from plait.kernel.pools import AND, FOLLOW
from plait.stores.postgres import PostgresStore
from tests.contract.stores.builders import ALL, LONG, NOW, Owner, create, message, must, outside, own_all, queued_task
from tests.contract.stores.builders import timer as timer_row
from tests.stores.looking_in import opened_at

CODE = "order@v2"
POOL = [Shard(SHARDS + number) for number in range(POOL_SHARDS)]


async def place(store: PostgresStore, run_id: str) -> Shard:
    row = await store.run(RunId(run_id))
    assert row is not None
    return row.shard


async def test_a_run_moves_with_its_inputs_timers_and_tasks(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await create(store, "run", "stays")
        await must(store, outside("run", inbox=[message("run", "before")]))
        await must(store, owner.write("run", timers=[timer_row("run", "nap")], queued=[queued_task("run")]))
        await must(store, owner.write("run", pool=CODE))
        assert await place(store, "run") in POOL
        assert await place(store, "stays") in ALL
        await must(store, outside("run", inbox=[message("run", "after")]))
        assert await store.inbox(ALL, 10) == []
        assert [row.key for row in await store.inbox(POOL, 10)] == ["before", "after"]
        assert await store.due(ALL, Millis(NOW + LONG), 10) == []
        assert [row.token for row in await store.due(POOL, Millis(NOW + LONG), 10)] == ["nap"]
        [held] = await store.queues.held(RunId("run"))
        assert held.task.shard in POOL


async def test_only_the_owner_moves_a_run(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await create(store, "run")
        await store.release("owner")
        await own_all(store, "another")
        assert await store.commit([owner.write("run", pool=CODE)]) == ["fenced"]
        assert await place(store, "run") in ALL
        assert await store.fleet.pools() == []


async def test_a_run_that_is_moved_twice_stays_where_it_is(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await create(store, "run")
        await must(store, owner.write("run", pool=CODE))
        found = await place(store, "run")
        await must(store, owner.write("run", pool=CODE))
        assert await place(store, "run") == found


async def test_the_shards_of_a_pool_are_claimed_as_such_and_fence_as_others_do(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await create(store, "run")
        await must(store, owner.write("run", pool=CODE))
        assert await store.claim("other", LONG, SHARDS) == []
        leases = await store.fleet.claim("other", LONG, POOL_SHARDS, CODE)
        assert [lease.shard for lease in leases] == POOL
        pooled = Owner("other", {lease.shard: lease.epoch for lease in leases})
        shard = await place(store, "run")
        write = owner.write("run", taken=[])
        write.shard, write.epoch = shard, pooled.epochs[shard]
        await must(store, write)
        await store.release("other")
        await store.fleet.claim("third", LONG, POOL_SHARDS, CODE)
        assert await store.commit([write]) == ["fenced"]


async def test_engines_say_which_code_they_have(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await create(store, "run")
        await must(store, owner.write("run", pool=CODE))
        for name, code in (("one", [CODE]), ("two", [CODE, "order@v1"]), ("three", ["order@v1"])):
            await store.renew(name, LONG)
            found = await store.fleet.announce(name, code)
        assert found == {CODE: 2}
        assert await store.fleet.pool_of(await place(store, "run")) == (CODE, 2)
        assert await store.fleet.pools() == [Pool(CODE, engines=2, owned=0, runs=1, shards=POOL)]
        await store.release("two")
        assert await store.fleet.announce("one", [CODE]) == {CODE: 1}


async def test_a_pool_that_needs_several_is_for_engines_that_have_all_of_them(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await create(store, "run")
        both = f"{CODE}{AND}pack"
        await must(store, owner.write("run", pool=both))
        for name, code in (("one", [CODE]), ("two", ["pack", "other", CODE]), ("three", ["pack"])):
            await store.renew(name, LONG)
            found = await store.fleet.announce(name, code)
        assert found == {both: 1}
        assert await store.fleet.pool_of(await place(store, "run")) == (both, 1)


async def test_what_came_for_a_run_before_it_moved_follows_it_wherever_it_is(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await create(store, "run")
        origin = await place(store, "run")
        await must(store, owner.write("run", pool=CODE))
        database = await asyncpg.connect(postgres_url)
        await database.execute(f"insert into plait.inbox (run_id, shard, key, at) values ('run', {origin}, 'stray', 0)")
        await must(store, owner.write("run", pool=FOLLOW))
        assert await database.fetchval("select shard from plait.inbox where key = 'stray'") == await place(store, "run")
        await database.close()
