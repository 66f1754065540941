"""`sim()`: an engine on virtual time that can be crashed."""

import asyncio
import time
from datetime import datetime, timedelta

import pytest

from plait import Context, step, step_info, workflow
from plait.errors import HistoryDivergedError, RunFailed
from plait.stores.memory import MemoryStore
from plait.testing import StuckError, sim

from .flows import MONTH, doubled, hopeless, listener, order, sleeper


async def test_a_month_of_sleep_takes_no_time():
    async with sim([sleeper]) as s:
        started, before = s.clock.time, time.process_time()
        woke = await s.run(sleeper)
        assert datetime.fromisoformat(woke) - started == timedelta(seconds=MONTH)
        assert time.process_time() - before < 5


async def test_time_passes_only_as_the_test_says():
    async with sim([sleeper]) as s:
        run = await s.start(sleeper)
        await s.clock.advance(MONTH - 1)
        assert await run.status() == "running"
        await s.clock.advance(1)
        assert await run.status() == "completed"


async def test_after_a_crash_another_engine_goes_on():
    async with sim([order, doubled]) as s:
        run = await s.start(order, 3)
        before = s.engine
        await s.crash()
        assert s.engine is not before
        await run.message("word", "hello")
        await s.crash()
        output = await s.result(run)
        assert (output["tried"], output["said"], s.crashes) == (7, "hello", 2)


async def test_a_handle_of_a_dead_engine_still_names_its_run():
    async with sim([doubled]) as s:
        handle = await s.engine.start(doubled, 4, namespace="team")
        await s.crash()
        assert await s.result(handle) == 8


async def test_definitions_given_to_start_survive_a_crash():
    async with sim() as s:
        run = await s.start(sleeper)
        await s.crash()
        assert await s.result(run)


async def test_the_same_seed_gives_the_same_ids():
    async def ids(seed: int) -> tuple[str, str]:
        async with sim([order, doubled], seed=seed) as s:
            run = await s.start(order, 1)
            return run.id, (await s.result(run))["id"]

    assert await ids(5) == await ids(5)
    assert await ids(5) != await ids(6)


async def test_a_run_that_waits_for_nobody_is_reported_with_its_reasons():
    async with sim([listener]) as s:
        with pytest.raises(StuckError, match=r"listener\): message `word`"):
            await s.run(listener)


async def test_a_run_that_failed_raises_as_it_does_from_a_handle():
    async with sim([hopeless]) as s:
        with pytest.raises(RunFailed, match="never"):
            await s.run(hopeless)


async def test_a_run_that_no_longer_fits_its_code_raises():
    @workflow(name="changing")
    async def before(ctx: Context) -> None:
        await ctx.sleep("old", 60)

    @workflow(name="changing")
    async def after(ctx: Context) -> None:
        await ctx.sleep("new", 60)

    store = MemoryStore()
    async with sim([before], store=store) as s:
        run = await s.start(before)
    async with sim([after], store=store) as s:
        with pytest.raises(HistoryDivergedError):
            await s.result(await s.engine.get(run.id))
    await store.dispose()


async def test_steps_may_take_virtual_time():
    async with sim() as s:

        @workflow
        async def slow(ctx: Context) -> float:
            async def take_a_day() -> float:
                await s.clock.sleep(86_400)
                return s.clock.monotonic()

            return await ctx.step("day", take_a_day, timeout=None)

        assert await s.run(slow) == 86_400.0


async def test_a_step_that_takes_too_much_virtual_time_times_out():
    async with sim() as s:

        @workflow
        async def late(ctx: Context) -> None:
            await ctx.step("hour", lambda: s.clock.sleep(3600), timeout=60)

        with pytest.raises(RunFailed, match="took longer than 60 s"):
            await s.run(late)
        assert s.clock.monotonic() == 60.0


async def test_steps_in_threads_and_real_waits_are_waited_for_in_real_time():
    @step
    def threaded() -> str:
        time.sleep(0.02)
        return "thread"

    @workflow
    async def real(ctx: Context) -> list[str]:
        async def waits() -> str:
            await asyncio.sleep(0.02)
            return "loop"

        return [await ctx.step("thread", threaded), await ctx.step("loop", waits)]

    async with sim() as s:
        assert await s.run(real) == ["thread", "loop"]
        assert s.clock.monotonic() == 0.0


async def test_a_step_that_was_under_way_at_a_crash_runs_again_under_the_same_key():
    keys: list[str] = []

    @workflow
    async def paying(ctx: Context) -> int:
        async def pay() -> int:
            keys.append(step_info().idempotency_key)
            await s.clock.sleep(60)
            return len(keys)

        return await ctx.step("pay", pay, timeout=None)

    async with sim() as s:
        run = await s.start(paying)
        await s.settle()
        await s.crash()
        assert await s.result(run) == 2
        assert keys[0] == keys[1]


async def test_it_works_with_parked_runs_dropped_from_memory():
    async with sim([order, doubled], code_cache=0) as s:
        run = await s.start(order, 3)
        assert (await s.result(run))["said"] is None


async def test_the_store_may_be_looked_at():
    async with sim([doubled]) as s:
        run = await s.start(doubled, 2)
        await s.result(run)
        [row] = [row for row in await s.engine.runs() if row.id == run.id]
        assert (row.status, row.awake) == ("completed", False)
