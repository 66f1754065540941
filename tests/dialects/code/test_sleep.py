"""Sleeping: durable, never early, and the time that was recorded wins."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from plait import Context, workflow

from .conftest import Simulate
from .decided import deciding
from .support import deploy


async def test_a_sleep_lasts_as_long_as_it_says() -> None:
    @workflow
    async def w(ctx: Context) -> float:
        start = ctx.now()
        await ctx.sleep("nap", 90.5)
        await ctx.sleep("more", timedelta(days=365))
        return (ctx.now() - start).total_seconds()

    async with deciding() as s:
        assert await s.run(w) == 90.5 + 365 * 86_400


async def test_a_sleep_goes_on_while_the_process_is_gone() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        await ctx.sleep("nap", 100)
        return f"{ctx.now():%H:%M:%S}"

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(60)
        await s.crash()
        await s.clock.advance(39.9)
        assert await run.status() == "running"
        await s.clock.advance(0.1)
        assert await s.result(run) == "00:01:40"


async def test_a_sleep_that_ended_while_nobody_was_there_ends_at_the_restart(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        await ctx.sleep("nap", 10)
        return f"{ctx.now():%H:%M:%S}"

    async with simulate() as s:
        run = await s.start(w)
        await s.settle()
        await s.engine.kernel.crash()
        s.clock._elapsed += 3_600_000  # nobody is there to be woken
        await s.crash()
        assert await s.result(run) == "01:00:00"


@pytest.mark.parametrize("duration", [0, -1, -1e300, float("-inf"), timedelta(0), timedelta(days=-5), 0.0001])
async def test_a_sleep_of_nothing_ends_at_once_and_is_recorded(duration: Any) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        await ctx.sleep("nap", duration)
        return f"{ctx.now():%S.%f}"

    async with deciding() as s:
        run = await s.start(w)
        assert await s.result(run) == "00.000000"
        history = await run.history()
        assert [event["at"] for event in history.of("op.opened")] == ["nap"]
        assert [event["at"] for event in history.of("op.closed")] == ["nap"]


async def test_sleep_until_a_time() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        await ctx.sleep_until("utc", datetime(2030, 1, 1, 6, tzinfo=UTC))
        first = f"{ctx.now():%H:%M}"
        await ctx.sleep_until("elsewhere", datetime(2030, 1, 1, 6, tzinfo=timezone(timedelta(hours=-2))))
        second = f"{ctx.now():%H:%M}"
        await ctx.sleep_until("past", datetime(2020, 1, 1, tzinfo=UTC))
        return [first, second, f"{ctx.now():%H:%M}"]

    async with deciding() as s:
        assert await s.run(w) == ["06:00", "08:00", "08:00"]


async def test_a_sleep_is_counted_from_the_moment_it_is_awaited() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        nap = ctx.sleep("nap", 10)
        limit = ctx.listen("m", timeout=20)
        await ctx.sleep("before", 100)
        await nap
        await limit
        return f"{ctx.now():%M:%S}"

    async with deciding() as s:
        assert await s.run(w) == "02:10"


async def test_the_recorded_deadline_wins_over_changed_code() -> None:
    def version(seconds: float) -> Any:
        @workflow(name="w")
        async def w(ctx: Context) -> str:
            await ctx.sleep("nap", seconds)
            return f"{ctx.now():%H:%M:%S}"

        return w

    async with deciding() as s:
        run = await s.start(version(100))
        await s.settle()
        await deploy(s, version(5))
        assert await s.result(run) == "00:01:40"
        assert await s.run("w") == "00:01:45"


async def test_a_sleep_never_ends_early_though_the_clock_is_set_back(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        times: list[str] = []
        for n in range(3):
            await ctx.sleep(f"nap:{n}", 60)
            times.append(f"{ctx.now():%H:%M}")
        return times

    async with simulate() as s:
        run = await s.start(w)
        await s.clock.advance(90)
        s.clock.set(datetime(2029, 12, 31, 23, 0, tzinfo=UTC))
        await s.settle()
        assert await s.result(run) == ["00:01", "00:02", "00:03"]
        (await run.history()).assert_not_early()


async def test_one_millisecond_is_the_grain() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        await ctx.sleep("nap", 0.0014)
        return ctx.now().microsecond

    async with deciding() as s:
        assert await s.run(w) == 1000


async def test_a_hundred_years_are_the_limit() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        await ctx.sleep("nap", timedelta(days=365 * 100))
        return ctx.now().year

    async with deciding() as s:
        assert await s.run(w) == 2129
