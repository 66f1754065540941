"""A version that is drained takes no new runs, and lets go of none that it has."""

import pytest

from plait import Context, Engine, PlaitError, workflow
from plait.engine.chosen_ids import MANY
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock


@workflow(version="v1")
async def order(ctx: Context) -> str:
    await ctx.listen("go")
    return "v1"


@workflow(name="order", version="v2")
async def order_v2(ctx: Context) -> str:
    return "v2"


@workflow
async def parent(ctx: Context) -> str:
    await ctx.listen("go")
    return await ctx.child("order", "order@v2")


def engine(store: MemoryStore, clock: VirtualClock) -> Engine:
    return Engine(definitions=[order, order_v2, parent], store=store, clock=clock)


async def test_no_new_run_starts_on_a_version_that_is_drained_and_those_there_are_end():
    clock = VirtualClock()
    async with engine(MemoryStore(clock=clock), clock) as on:
        under_way = await on.start(order, id="one")
        await on.drains.begin("order@v1")
        await clock.advance(1.0)
        with pytest.raises(PlaitError) as refused:
            await on.start(order, id="another")
        assert refused.value.code == "engine.version_drained"
        assert "plait drain --version order@v1 --undo" in str(refused.value)
        assert await (await on.start(order_v2)).result() == "v2"
        assert (await on.start(order, id="one")).id == "one"
        assert await on.drains.left("order@v1") == 1
        await under_way.message("go")
        assert await under_way.result() == "v1"
        assert await on.drains.left("order@v1") == 0


async def test_the_start_of_a_run_that_is_there_already_is_not_new_however_many_new_ones_came_before_it():
    clock = VirtualClock()
    async with engine(MemoryStore(clock=clock), clock) as on:
        for number in range(MANY + 1):
            await on.start(order, id=f"run-{number}")
        await on.drains.begin("order@v1")
        await clock.advance(1.0)
        assert (await on.start(order, id="run-0")).id == "run-0"


async def test_a_run_under_way_may_start_children_on_a_version_that_is_drained():
    clock = VirtualClock()
    async with engine(MemoryStore(clock=clock), clock) as on:
        handle = await on.start(parent)
        await on.drains.begin("order@v2")
        await clock.advance(1.0)
        await handle.message("go")
        assert await handle.result() == "v2"


async def test_what_one_engine_drains_is_drained_on_the_others_until_it_is_undone():
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    async with engine(store, clock) as one, Engine(definitions=[order_v2], store=store, clock=clock, work=False) as two:
        await two.start(order_v2, id="before")
        await one.drains.begin("order@v2")
        await clock.advance(1.0)
        with pytest.raises(PlaitError, match="is being drained"):
            await two.start(order_v2)
        assert await two.drains.list() == ["order@v2"]
        assert await two.drains.undo("order@v2")
        assert not await two.drains.undo("order@v2")
        await clock.advance(1.0)
        assert await (await one.start(order_v2)).result() == "v2"


async def test_what_names_no_version_can_not_be_drained():
    clock = VirtualClock()
    async with engine(MemoryStore(clock=clock), clock) as on:
        for label in ("order", "order@", "@v1"):
            with pytest.raises(PlaitError, match="names no version"):
                await on.drains.begin(label)
