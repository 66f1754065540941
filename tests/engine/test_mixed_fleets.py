"""Engines with different code on one PostgreSQL: each run is done by one that has its code."""

import asyncio
from typing import Any

import asyncpg

from plait import Context, Handle, step, workflow
from plait.engine.fleet_overview import fleet_overview
from plait.kernel import values
from plait.kernel.ids import SHARDS, RunId, shard_of
from plait.kernel.inputs import Message
from tests.engine.fleets import engine, share, until

MANY = 40


@step
async def where() -> str:
    return "here"


@workflow(version="v1")
async def order(ctx: Context) -> str:
    return f"v1 {await ctx.step('where', where)}"


@workflow(name="order", version="v2")
async def order_v2(ctx: Context) -> str:
    return f"v2 {await ctx.step('where', where)}"


@workflow
async def napping(ctx: Context) -> str:
    await ctx.sleep("nap", 0.05)
    found = await ctx.listen("go")
    return f"heard {found.body if found is not None else None}"


@workflow
async def parent(ctx: Context) -> list[str]:
    return [await ctx.child(f"child-{number}", order_v2) for number in range(8)]


async def results(handles: list[Handle[Any]]) -> list[Any]:
    return await asyncio.gather(*(handle.result() for handle in handles))


async def test_each_run_is_done_by_an_engine_that_has_its_version(postgres_url: str):
    async with engine(postgres_url, order) as old, engine(postgres_url, order_v2) as new:
        await share(old, new)
        ones = [await old.start(order, id=f"one-{number}") for number in range(MANY)]
        twos = [await new.start(order_v2, id=f"two-{number}") for number in range(MANY)]
        assert await results(ones) == ["v1 here"] * MANY
        assert await results(twos) == ["v2 here"] * MANY
        for handle in [*ones, *twos]:
            assert (await handle.row()).blocked is None


async def test_a_run_that_no_engine_has_the_code_of_says_so_and_is_taken_by_the_next_that_has_it(postgres_url: str):
    async with engine(postgres_url, order) as old:
        async with engine(postgres_url, order_v2, work=False) as client:
            await client.start(order_v2, id="two")

        async def told() -> bool:
            return [reason.text for reason in await found.waiting()] == ["no engine here has `order@v2`"]

        found = await old.get("two")
        await until(told)
        assert (await found.row()).phase == "waiting"
        assert (await found.row()).blocked is None
        async with engine(postgres_url, order_v2):
            assert await found.result() == "v2 here"


async def test_a_run_goes_on_elsewhere_when_the_last_engine_with_its_code_leaves_and_another_comes(postgres_url: str):
    """With all that it waits for: timers and messages."""
    async with engine(postgres_url, order) as other:
        async with engine(postgres_url, napping) as first:
            await share(other, first)
            handles = [await first.start(napping, id=f"nap-{number}") for number in range(MANY)]
        for number in range(MANY):
            await (await other.get(f"nap-{number}")).message("go", number)
        async with engine(postgres_url, napping) as second:
            found = [await second.get(handle.id) for handle in handles]
            assert await results(found) == [f"heard {number}" for number in range(MANY)]


async def test_what_is_sent_to_a_run_in_a_pool_reaches_it_whoever_sends_it(postgres_url: str):
    async with engine(postgres_url, order) as other, engine(postgres_url, napping) as having:
        await share(other, having)
        handles = [await having.start(napping, id=f"nap-{number}") for number in range(MANY)]
        for number, handle in enumerate(handles):
            sender = await (other if number % 2 else having).get(handle.id)
            await sender.message("go", number)
        assert await results(handles) == [f"heard {number}" for number in range(MANY)]


async def test_a_child_that_its_parents_engine_has_the_code_of_is_done_by_whoever_else_has_it(postgres_url: str):
    async with engine(postgres_url, order) as other, engine(postgres_url, parent, order_v2) as having:
        await share(other, having)
        handles = [await having.start(parent, id=f"parent-{number}") for number in range(4)]
        assert await results(handles) == [["v2 here"] * 8] * 4


async def test_a_uniform_fleet_has_no_pools(postgres_url: str):
    async with engine(postgres_url, order) as one, engine(postgres_url, order) as two:
        await share(one, two)
        assert await results([await one.start(order, id=f"one-{n}") for n in range(MANY)]) == ["v1 here"] * MANY
        assert one.kernel.store.fleet is not None
        assert await one.kernel.store.fleet.pools() == []


async def test_the_shards_of_a_pool_are_spread_over_the_engines_that_have_its_code(postgres_url: str):
    async with engine(postgres_url, order) as old, engine(postgres_url, order_v2) as first:
        await share(old, first)
        assert await results([await first.start(order_v2, id=f"two-{n}") for n in range(MANY)]) == ["v2 here"] * MANY
        async with engine(postgres_url, order_v2) as second:

            async def halved() -> bool:
                return [len(each.kernel.leases.of_pool("order@v2")) for each in (old, first, second)] == [0, 4, 4]

            await until(halved)


async def test_an_input_that_was_written_where_a_run_was_before_it_moved_follows_it(postgres_url: str):
    """Who writes it may have looked just before the run moved."""
    async with engine(postgres_url, order) as other, engine(postgres_url, napping) as having:
        await share(other, having)
        handles = [await having.start(napping, id=f"nap-{number}") for number in range(MANY)]
        [handle, *_] = [each for each in handles if shard_of(RunId(each.id)) in other.kernel.leases]

        async def moved() -> bool:
            return (await handle.row()).shard >= SHARDS

        await until(moved)
        message = Message("late", "go", values.encode("late"), having.kernel.clock.now())
        database = await asyncpg.connect(postgres_url)
        written = "insert into plait.inbox (run_id, shard, key, body, at) values ($1, $2, 'late', $3, 0)"
        await database.execute(written, handle.id, shard_of(RunId(handle.id)), values.plain(message).decode())
        await database.execute("select pg_notify('plait', 'another')")
        await database.close()
        assert await handle.result() == "heard late"


async def test_operators_see_engines_pools_and_what_waits(postgres_url: str):
    async with engine(postgres_url, order) as old:
        async with engine(postgres_url, order_v2) as new:
            await share(old, new)
            await results([await new.start(order_v2, id=f"two-{number}") for number in range(MANY)])
            found = await fleet_overview(old.kernel, old.drains)
            assert sorted(each.shards for each in found.engines) == [32, 32]
            assert sum(each.pool_shards for each in found.engines) == 8
            assert [(pool.code, pool.runs, pool.engines) for pool in found.pools] == [("order@v2", 0, 1)]
            assert found.unowned == 0
        async with engine(postgres_url, order_v2, work=False) as client:
            await client.start(order_v2, id="late")
        late = await old.get("late")

        async def waits() -> bool:
            return (await late.row()).shard >= SHARDS

        await until(waits)
        await old.drains.begin("order@v1")
        found = await fleet_overview(old.kernel, old.drains)
        assert [(pool.runs, pool.engines) for pool in found.pools] == [(1, 0)]
        assert found.waiting > 0
        assert found.draining == ["order@v1"]
