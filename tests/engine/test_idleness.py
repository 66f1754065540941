"""When an engine may end because no work is left."""

import asyncio

from plait import Context, Engine, workflow
from plait.engine.idleness import QUIET, has_work, until_idle
from plait.testing import sim
from tests.clusters.work import by_queue
from tests.engine.places import until


@workflow
async def listening(ctx: Context) -> None:
    await ctx.listen("go")


@workflow
async def sleeping(ctx: Context, seconds: float) -> None:
    await ctx.sleep("nap", seconds)


async def test_a_run_that_waits_for_a_person_a_message_or_tomorrow_is_no_work() -> None:
    async with sim([listening, sleeping]) as s:
        await s.start(listening)
        await s.start(sleeping, 86_400.0)
        await s.settle()
        assert not await has_work(s.engine.kernel)


async def test_a_timer_that_fires_soon_is_work() -> None:
    async with sim([sleeping]) as s:
        await s.start(sleeping, 30.0)
        await s.settle()
        assert await has_work(s.engine.kernel)


async def test_a_task_on_a_queue_is_work() -> None:
    async with sim([by_queue]) as s:
        await s.start(by_queue)
        await s.settle()
        assert await has_work(s.engine.kernel)


async def test_a_run_on_a_queue_is_work_if_a_rate_or_a_delay_lets_it_start_soon() -> None:
    async with sim([listening]) as s:
        queues = s.engine.queues
        await queues.set("slow", rate=1, period=30)
        await queues.set("daily", rate=1, period=86_400)
        for queue in ("slow", "slow", "daily", "daily"):
            await s.engine.start(listening, queue=queue)
        await s.settle()
        assert await has_work(s.engine.kernel)
        await s.clock.advance(61)
        assert not await has_work(s.engine.kernel)
        await s.engine.start(listening, queue="slow", delay=50)
        await s.settle()
        assert await has_work(s.engine.kernel)


async def test_a_run_that_waits_for_a_slot_is_no_work() -> None:
    async with sim([listening]) as s:
        await s.engine.queues.set("narrow", concurrency=1)
        await s.engine.queues.pause("paused")
        for queue in ("narrow", "narrow", "paused"):
            await s.engine.start(listening, queue=queue)
        await s.settle()
        await s.clock.advance(61)
        assert not await has_work(s.engine.kernel)


async def test_a_step_under_way_is_work_until_it_ends() -> None:
    begun, gate = asyncio.Event(), asyncio.Event()

    async def pass_through() -> None:
        begun.set()
        await gate.wait()

    @workflow
    async def working(ctx: Context) -> None:
        await ctx.step("s", pass_through)

    async with Engine("memory:") as engine:
        run = await engine.start(working)
        await begun.wait()
        assert await has_work(engine.kernel)
        gate.set()
        await run.result()
        await until(lambda: engine.kernel.idle)
        assert not await has_work(engine.kernel)


async def test_an_engine_may_end_a_while_after_the_last_work() -> None:
    async with sim([sleeping]) as s:
        await s.start(sleeping, 30.0)
        ending = asyncio.ensure_future(until_idle(s.engine.kernel))
        await s.clock.advance(29)
        assert not ending.done()
        await s.clock.advance(1 + 3 * QUIET)
        await ending
