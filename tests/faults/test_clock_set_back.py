"""The wall clock is set while runs sleep: no timer fires early, none is lost, and recorded time never goes back."""

from datetime import timedelta

import pytest

from plait import Context, workflow
from plait.testing import sim

HOUR = 3600


@workflow
async def two_naps(ctx: Context) -> list[str]:
    before = ctx.now()
    await ctx.sleep("first", HOUR)
    between = ctx.now()
    await ctx.sleep("second", HOUR)
    assert before < between < ctx.now()
    return [before.isoformat(), between.isoformat(), ctx.now().isoformat()]


@pytest.mark.parametrize("cache", [0, 1000])
async def test_a_sleep_under_way_ends_when_wall_time_says_so(cache: int):
    async with sim([two_naps], code_cache=cache) as s:
        run = await s.start(two_naps)
        await s.settle()
        s.clock.set(s.clock.time - timedelta(minutes=30))
        await s.clock.advance(HOUR)
        assert [node.id for node in (await run.view()).nodes] == ["first"]
        await s.clock.advance(HOUR / 2)
        assert [node.id for node in (await run.view()).nodes] == ["first", "second"]
        await s.result(run)
        found = await run.history()
        found.assert_not_early()
        found.assert_recorded_once()


async def test_what_is_recorded_never_goes_back_in_time():
    async with sim([two_naps]) as s:
        run = await s.start(two_naps)
        await s.clock.advance(HOUR)
        s.clock.set(s.clock.time - timedelta(days=1))
        await s.result(run)
        times = [event.at for event in await run.events()]
        assert times == sorted(times)


async def test_a_clock_set_forward_ends_sleeps_at_once():
    async with sim([two_naps]) as s:
        run = await s.start(two_naps)
        await s.settle()
        s.clock.set(s.clock.time + timedelta(days=1))
        await s.clock.advance(0)
        assert [node.id for node in (await run.view()).nodes] == ["first", "second"]
        await s.result(run)


async def test_timeouts_of_steps_do_not_care_about_wall_time():
    async with sim() as s:

        @workflow
        async def slow(ctx: Context) -> str:
            async def take_a_minute() -> str:
                await s.clock.sleep(60)
                return "done"

            return await ctx.step("minute", take_a_minute, timeout=90)

        run = await s.start(slow)
        await s.settle()
        s.clock.set(s.clock.time + timedelta(days=1))
        await s.clock.advance(30)
        s.clock.set(s.clock.time - timedelta(days=2))
        assert await s.result(run) == "done"
        assert s.clock.monotonic() == 60.0


async def test_a_crash_after_the_clock_was_set_back_changes_nothing():
    async with sim([two_naps]) as s:
        run = await s.start(two_naps)
        await s.clock.advance(HOUR)
        s.clock.set(s.clock.time - timedelta(hours=5))
        await s.crash()
        await s.result(run)
        (await run.history()).assert_not_early()
