"""Pools whose code no engine has, on PostgreSQL: ended runs are removed under a new epoch, and an empty pool goes.
Nobody who wrote to one before writes again, and no run is ever where no shard is."""

import asyncio

from msgspec.structs import replace

from plait.kernel.fleet import POOL_SHARDS
from plait.kernel.ids import SHARDS, Epoch, Millis, RunId, Shard, shard_of
from plait.kernel.pools import HOME
from plait.kernel.store import Verdict, Write
from plait.stores.postgres import PostgresStore
from plait.stores.postgres.database import SQL
from tests.contract.stores.builders import (
    ALL,
    LONG,
    NONE,
    NOW,
    Owner,
    create,
    ended,
    keys,
    message,
    must,
    outside,
    own_all,
    queued_task,
    timer,
)
from tests.stores.looking_in import looking_in, opened_at, until
from tests.support.effort import tries

FIRST = [Shard(SHARDS + number) for number in range(POOL_SHARDS)]
SECOND = [Shard(SHARDS + POOL_SHARDS + number) for number in range(POOL_SHARDS)]
HOMELESS = "select count(*) from plait.runs r where not exists (select from plait.shards s where s.shard = r.shard)"


async def pool(store: PostgresStore, owner: Owner, code: str, *run_ids: str) -> None:
    """Runs that moved to a pool."""
    await create(store, *run_ids)
    await must(store, *(owner.write(run_id, pool=code) for run_id in run_ids))


async def pools(store: PostgresStore) -> dict[str, list[Shard]]:
    return {found.code: found.shards for found in await store.fleet.pools()}


async def write_of(store: PostgresStore, run_id: str, epochs: dict[Shard, Epoch], **parts: object) -> Write:
    row = await store.run(RunId(run_id))
    assert row is not None
    return Write(RunId(run_id), row.shard, epochs[row.shard], **parts)  # pyright: ignore[reportArgumentType]


async def claimed(store: PostgresStore, code: str, name: str = "having", ttl: Millis = LONG) -> dict[Shard, Epoch]:
    return {lease.shard: lease.epoch for lease in await store.fleet.claim(name, ttl, POOL_SHARDS, code)}


async def raised(store: PostgresStore) -> dict[Shard, Epoch]:
    return {lease.shard: lease.epoch for lease in await store.fleet.raise_epochs(await store.fleet.abandoned())}


async def remove(store: PostgresStore, *run_ids: str) -> list[Verdict]:
    """Ends runs of a pool and removes them, as an engine without their code does."""
    epochs = await raised(store)
    await must(store, *[await write_of(store, run_id, epochs, patch=ended()) for run_id in run_ids])
    removal = Millis(NOW + LONG)
    return await store.commit([await write_of(store, run_id, epochs, removal=removal) for run_id in run_ids])


async def test_an_ended_run_of_an_abandoned_pool_is_removed_under_a_new_epoch(postgres_url: str):
    async with opened_at(postgres_url) as store:
        await pool(store, await own_all(store), "order@v1", "run")
        zombie = await claimed(store, "order@v1", ttl=NONE)
        late = await write_of(store, "run", zombie, patch=ended(status="failed"))
        assert await remove(store, "run") == ["ok"]
        assert await store.run(RunId("run")) is None
        assert await store.commit([late]) == ["fenced"]


async def test_a_shard_that_somebody_holds_keeps_its_epoch(postgres_url: str):
    async with opened_at(postgres_url) as store:
        await pool(store, await own_all(store), "order@v1", "run")
        holding = await claimed(store, "order@v1")
        assert await store.fleet.abandoned() == []
        assert await store.fleet.raise_epochs(FIRST) == []
        await must(store, await write_of(store, "run", holding, patch=ended()))


async def test_who_claims_a_pool_waits_for_nobody_and_fences_who_removes_runs(postgres_url: str):
    async with opened_at(postgres_url) as store:
        await pool(store, await own_all(store), "order@v1", "run")
        removing = await raised(store)
        assert list(await claimed(store, "order@v1")) == FIRST
        write = await write_of(store, "run", removing, removal=Millis(NOW + LONG))
        assert await store.commit([write]) == ["fenced"]
        assert await store.run(RunId("run")) is not None


async def test_a_pool_with_an_engine_for_it_is_not_abandoned(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await pool(store, owner, "order@v1 + pack", "one")
        await pool(store, owner, "order@v3", "three")
        await store.renew("having", LONG)
        await store.fleet.announce("having", ["order@v1", "pack"])
        assert await store.fleet.abandoned() == SECOND
        await store.release("having")
        assert await store.fleet.abandoned() == [*FIRST, *SECOND]


async def test_an_empty_pool_goes_and_the_last_one_stays_so_that_no_number_is_given_twice(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await pool(store, owner, "order@v1", "one")
        await pool(store, owner, "order@v2", "two")
        zombie = await claimed(store, "order@v1", ttl=NONE)
        late = await write_of(store, "one", zombie, patch=ended(status="failed"))
        assert await remove(store, "one", "two") == ["ok", "ok"]
        assert await store.fleet.remove_emptied() == ["order@v1"]
        assert await store.fleet.remove_emptied() == []
        assert await pools(store) == {"order@v2": SECOND}
        assert await store.fleet.pool_of(FIRST[0]) is None
        assert await store.commit([late]) == ["fenced"]
        await pool(store, owner, "order@v1", "again")
        assert await pools(store) == {"order@v1": [Shard(80 + n) for n in range(POOL_SHARDS)], "order@v2": SECOND}
        assert await store.commit([late]) == ["fenced"]


async def test_a_pool_stays_while_it_has_a_run_or_an_input(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await pool(store, owner, "order@v1", "one", "other")
        await pool(store, owner, "order@v2", "two")
        assert await store.fleet.remove_emptied() == []
        await must(store, await write_of(store, "one", await raised(store), patch=ended()))
        assert await store.fleet.remove_emptied() == []
        assert await remove(store, "one", "other") == ["ok", "ok"]
        await must(store, outside("one", inbox=[replace(message("one"), shard=FIRST[0])]))
        assert await store.fleet.remove_emptied() == []
        assert await store.removals.remove_lost_inputs(FIRST, NOW, 10) == ["one"]
        assert await store.fleet.remove_emptied() == ["order@v1"]
        await must(store, outside("one", inbox=[replace(message("one", "later"), shard=FIRST[0])]))
        assert await store.removals.remove_lost_inputs([Shard(0)], NOW, 10) == ["one"]


async def test_a_pool_that_somebody_claimed_stays(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await pool(store, owner, "order@v1", "one")
        await pool(store, owner, "order@v2", "two")
        assert await remove(store, "one") == ["ok"]
        await store.fleet.claim("having", LONG, 1, "order@v1")
        assert await store.fleet.remove_emptied() == []
        await store.release("having")
        assert await store.fleet.remove_emptied() == ["order@v1"]


async def test_nothing_is_removed_beside_a_commit_that_may_move_a_run(postgres_url: str):
    """It has locked the shard of its run, of whichever release it is, and may have read which pools there are."""
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as mover:
        owner = await own_all(store)
        await pool(store, owner, "order@v1", "one")
        await pool(store, owner, "order@v2", "two")
        assert await remove(store, "one") == ["ok"]
        async with mover.transaction():
            await mover.fetch(SQL["hold_epochs"], [0])
            assert await store.fleet.remove_emptied() == []
        assert await store.fleet.remove_emptied() == ["order@v1"]


async def test_a_run_that_moves_while_its_pool_is_removed_gets_a_new_one(postgres_url: str):
    async with (
        opened_at(postgres_url) as store,
        looking_in(postgres_url) as remover,
        looking_in(postgres_url) as watcher,
    ):
        owner = await own_all(store)
        await pool(store, owner, "order@v1", "one")
        await pool(store, owner, "order@v2", "two")
        assert await remove(store, "one") == ["ok"]
        await create(store, "moving")
        async with remover.transaction():
            await remover.execute("lock table plait.shards in exclusive mode")
            await remover.execute("delete from plait.shards where pool = 'order@v1'")
            moving = asyncio.create_task(store.commit([owner.write("moving", pool="order@v1")]))
            await until(watcher, "select exists (select from pg_locks where not granted)")
        assert await moving == ["ok"]
        assert (await pools(store))["order@v1"] == [Shard(80 + number) for number in range(POOL_SHARDS)]
        assert await watcher.fetchval(HOMELESS) == 0


async def test_runs_that_move_end_and_go_while_pools_are_removed_are_never_where_no_shard_is(postgres_url: str):
    """Two processes, at whatever moments they happen to meet."""
    async with (
        opened_at(postgres_url) as moving,
        opened_at(postgres_url) as removing,
        looking_in(postgres_url) as watcher,
    ):
        owner = await own_all(moving)
        removed: list[str] = []

        async def remove_pools() -> None:
            while True:
                removed.extend(await removing.fleet.remove_emptied())
                await asyncio.sleep(0)

        remover = asyncio.create_task(remove_pools())
        for number in range(tries(60)):
            await pool(moving, owner, f"order@v{number % 3}", "run")
            assert await watcher.fetchval(HOMELESS) == 0
            assert await remove(moving, "run") == ["ok"]
        remover.cancel()
        await asyncio.gather(remover, return_exceptions=True)
        assert removed
        numbers = await watcher.fetch("select shard from plait.shards where pool <> ''")
        assert len(numbers) <= 3 * POOL_SHARDS


async def test_a_run_goes_home_from_an_abandoned_pool_with_all_that_waits_for_it(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await create(store, "run")
        await must(store, owner.write("run", timers=[timer("run")], queued=[queued_task("run")]))
        await must(store, owner.write("run", pool="order@v1"))
        await must(store, outside("run", inbox=[message("run")]))
        zombie = await claimed(store, "order@v1", ttl=NONE)
        late = await write_of(store, "run", zombie, pool=HOME)
        await must(store, await write_of(store, "run", await raised(store), pool=HOME))
        row = await store.run(RunId("run"))
        assert row is not None
        assert row.shard == shard_of(RunId("run"))
        assert keys(await store.inbox(ALL, 10)) == ["hello"]
        assert [found.token for found in await store.due(ALL, NOW, 10)] == ["sleep"]
        [held] = await store.queues.held(RunId("run"))
        assert held.task.shard == row.shard
        assert await store.commit([late]) == ["fenced"]
        await must(store, owner.write("run", patch=ended()))
