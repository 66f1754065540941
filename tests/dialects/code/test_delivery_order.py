"""Turns and replay: results are delivered in the order in which they were recorded, live and replayed."""

import asyncio
from typing import Any

import pytest

from plait import Context, Loop, RollbackError, step_info, workflow

from .support import same_log


@workflow
async def ten_steps(ctx: Context) -> int:
    total = 0
    for number in range(10):
        total += await ctx.step(f"add:{number}", lambda number=number: number)
    return total


@workflow
async def fan_out(ctx: Context) -> list[int]:
    return await asyncio.gather(*(ctx.step(f"s{i}", lambda i=i: i) for i in range(20)))


@workflow
async def first_completed(ctx: Context) -> list[str]:
    tasks = [asyncio.create_task(ctx.sleep(f"nap:{n}", n), name=str(n)) for n in (3, 1, 2)]
    order: list[str] = []
    pending = set(tasks)
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        order += [task.get_name() for task in done]
        await ctx.step(f"note:{len(order)}", lambda: None)
    return order


@workflow
async def committing_loop(ctx: Context) -> int:
    async def body(c: Context, n: int) -> Any:
        if n == 45:
            return Loop.break_(n)
        await c.sleep("tick", 1)  # parks, so that without a cache every iteration is replayed
        return Loop.continue_(n + 1)

    return await ctx.loop("count", body, state=0, commit_interval=10)


@workflow
async def races_and_joins(ctx: Context) -> Any:
    async def slow(c: Context) -> str:
        await c.sleep("nap", 60)
        return "slow"

    async def quick(c: Context) -> str:
        async with c.timeout("limit", 5):
            await c.step("work", lambda: None)
        return await c.step("more", lambda: "quick")

    won = await ctx.race("race", slow=slow, quick=quick)
    both = await ctx.join("join", one=quick, two=lambda c: c.sleep("nap", 1))
    return [won.winner, won.value, both.one]


@workflow
async def cancels_and_opens(ctx: Context) -> str:
    """In one turn: opens an operation, cancels another, opens one more."""
    nap = asyncio.create_task(ctx.sleep("nap", 1000))
    await ctx.sleep("first", 1)
    after = asyncio.create_task(ctx.step("after", lambda: "after"))
    await asyncio.sleep(0)
    nap.cancel()
    await asyncio.sleep(0)
    await ctx.step("last", lambda: None)
    return await after


@workflow
async def zero_waits(ctx: Context) -> int:
    await ctx.sleep("a", 1)
    nothing, found, version = await asyncio.gather(ctx.sleep("zero", 0), ctx.step("b", lambda: 1), ctx.version("v", 3))
    assert nothing is None
    await ctx.listen("never", timeout=0)
    return found + version


@workflow
async def retries(ctx: Context) -> str:
    async def flaky() -> str:
        if step_info().attempt < 3:
            raise ConnectionError("away")
        return "here"

    return await ctx.step("flaky", flaky)


@workflow
async def fails_and_rolls_back(ctx: Context) -> None:
    await ctx.step("one", lambda: 1, rollback=lambda undo: None)
    await ctx.step("two", lambda: 2, rollback=lambda undo: None)
    raise RollbackError("no")


DEFINITIONS = [
    ten_steps,
    fan_out,
    first_completed,
    committing_loop,
    races_and_joins,
    cancels_and_opens,
    zero_waits,
    retries,
    fails_and_rolls_back,
]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda found: found.name)
async def test_the_log_is_the_same_with_and_without_a_cache(definition: Any) -> None:
    found = await same_log(definition)
    found.assert_recorded_once()
    found.assert_fits_its_code()
