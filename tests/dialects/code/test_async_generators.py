"""Async generators are closed on the run's own loop, and at the same moment whether a run was parked or not."""

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from plait import Context, Loop, workflow
from plait.errors import RunFailed

from .conftest import Simulate
from .decided import deciding
from .support import Ledger, same_log


async def numbers(ctx: Context, name: str = "close") -> AsyncGenerator[int]:
    """Gives numbers as long as it is asked; when it is not any more, a step says so."""
    try:
        for n in range(100):
            yield await ctx.step(f"{name}.{n}", lambda n=n: n)
    finally:
        await ctx.step(name, lambda: "closed")


def opened(history: Any) -> list[str]:
    return [data["at"] for data in history.of("op.opened")]


async def test_a_generator_that_is_left_is_closed_before_the_run_ends() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        async for n in numbers(ctx):
            if n == 2:
                break
        return await ctx.step("after", lambda: 7)

    async with deciding() as s:
        run = await s.start(w)
        assert await s.result(run) == 7
        history = await run.history()
        assert opened(history) == ["close.0", "close.1", "close.2", "after", "close"]
        history.assert_recorded_once()
    await same_log(w)


async def test_its_cleanup_can_free_what_the_code_waits_for() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        lock = asyncio.Lock()

        async def guarded() -> AsyncGenerator[int]:
            async with lock:
                yield await ctx.step("one", lambda: 1)

        async for _ in guarded():
            break
        async with lock:
            return "free"

    async with deciding() as s:
        assert await s.run(w) == "free"
    await same_log(w)


async def test_one_that_only_the_garbage_collector_finds_is_closed_at_the_end() -> None:
    collect: list[Callable[[], object]] = [gc.collect]

    @workflow
    async def w(ctx: Context) -> int:
        circle: list[Any] = [numbers(ctx)]
        circle.append(circle)
        await anext(circle[0])
        del circle
        collect[0]()  # the collector may come, or not: nothing may depend on it
        await ctx.step("between", lambda: None)
        return 1

    found = await same_log(w)
    collect[0] = int
    assert opened(await same_log(w)) == opened(found) == ["close.0", "between", "close"]


@pytest.mark.parametrize("where", ["loop", "join"])
async def test_a_body_closes_its_own(where: str, simulate: Simulate) -> None:
    async def first(ctx: Context) -> int:
        async for n in numbers(ctx):
            return n
        return -1

    async def body(ctx: Context, n: int) -> Any:
        await first(ctx)
        return Loop.continue_(n + 1) if n < 2 else Loop.break_(n)

    @workflow
    async def w(ctx: Context) -> Any:
        if where == "loop":
            return await ctx.loop("l", body, state=0)
        return dict(await ctx.join("j", a=first, b=first))

    async with simulate() as s:
        run = await s.start(w)
        assert await s.result(run) == (2 if where == "loop" else {"a": 0, "b": 0})
        history = await run.history()
        closings = [data for data in history.of("op.closed") if data["at"].endswith("/close")]
        assert len(closings) == (3 if where == "loop" else 2)
        history.assert_recorded_once()


async def test_a_cleanup_that_fails_fails_the_run() -> None:
    async def broken(ctx: Context) -> AsyncGenerator[int]:
        try:
            yield 1
        finally:
            await ctx.step("close", Ledger().fails("x", ValueError("not closed")), max_attempts=1)

    @workflow
    async def w(ctx: Context) -> int:
        async for n in broken(ctx):
            return n
        return 0

    async with deciding() as s:
        with pytest.raises(RunFailed, match="not closed"):
            await s.run(w)


async def test_a_generator_of_a_parked_run_is_closed_without_a_trace_when_the_run_is_dropped(
    simulate: Simulate,
) -> None:
    cleaned: list[str] = []

    async def waiting(ctx: Context) -> AsyncGenerator[int]:
        try:
            yield 1
        finally:
            cleaned.append("plain code runs")
            await ctx.step("close", lambda: None)

    @workflow
    async def w(ctx: Context) -> str:
        async for _ in waiting(ctx):
            await ctx.listen("go")
            break
        return "done"

    async with simulate() as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        await s.settle()
        assert opened(await run.history()) == ["go"]
        await run.message("go")
        assert await s.result(run) == "done"
        assert opened(await run.history()) == ["go", "close"]
        assert cleaned


async def test_generators_outside_of_workflows_are_left_to_the_event_loop(simulate: Simulate) -> None:
    closed = asyncio.Event()

    async def outside() -> AsyncGenerator[int]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            closed.set()

    async def step() -> int:
        async for n in outside():
            return n
        return 0

    @workflow
    async def w(ctx: Context) -> int:
        return await ctx.step("s", step)

    async with simulate() as s:
        assert await s.run(w) == 1
        await asyncio.wait_for(closed.wait(), 5)
