"""A fork at any event does what its source did after that, and nothing again."""

from typing import Any

import pytest

from plait import Context, Loop, step, step_info, workflow

from .conftest import Simulate
from .support import Ledger

ledger = Ledger()


@pytest.fixture(autouse=True)
def _clean_ledger() -> None:
    ledger.clear()


@step
async def work(n: int) -> int:
    ledger.append(step_info().path)
    return n


@workflow
async def loops(ctx: Context, options: dict[str, int]) -> Any:
    async def body(c: Context, n: int) -> Loop[int, str]:
        await c.step("work", work, n)
        return Loop.continue_(n + 1) if n < 5 else Loop.break_(f"broke at {n}")

    async def nested(c: Context) -> Loop[None, str] | None:
        found = await c.loop("inner", body, state=3, **options)
        return Loop.break_(found) if await c.step("after", work, 9) else None

    first = await ctx.loop("outer", body, state=0, **options)
    await ctx.step("between", work, 8)
    second = await ctx.loop("nested", nested, **options)
    return [first, second]


@workflow
async def branches(ctx: Context, options: dict[str, int]) -> Any:
    async def two(c: Context) -> int:
        await c.step("one", work, 1)
        return await c.step("two", work, 2)

    both = await ctx.join("both", a=two, b=lambda c: c.step("only", work, 3))
    won = await ctx.race("race", slow=lambda c: c.sleep("slow", 3600), fast=two)
    await ctx.sleep("nap", 5)
    return [both.a, both.b, won.winner, await ctx.step("last", work, await ctx.version("gate", 2))]


@pytest.mark.parametrize(
    ("definition", "options"),
    [
        (loops, {"commit_interval": 1}),
        (loops, {"commit_interval": 2, "history_every": 2, "history_keep": 0}),
        (loops, {"commit_interval": 3, "history_every": 2, "history_keep": 1}),
        (branches, {}),
    ],
)
async def test_a_fork_at_any_event_repeats_nothing(
    definition: Any, options: dict[str, int], simulate: Simulate
) -> None:
    async with simulate([loops, branches]) as s:
        run = await s.start(definition, options)
        output = await s.result(run)
        everything, events = set(ledger), await run.events()
        for number in range(1, len(events)):
            closed = {event.data["at"] for event in events[:number] if event.type == "op.closed"}
            ledger.clear()
            fork = await run.fork(number)
            assert await s.result(fork) == output, f"from event {number}, {events[number - 1].type}"
            assert sorted(ledger) == sorted(everything - closed), f"from event {number}, {events[number - 1].type}"
