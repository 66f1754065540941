"""An embedded run comes to the same whichever batch of its driver fails, before it is written or after."""

from collections.abc import Sequence
from typing import Any, Literal

import pytest

from plait import Context, Loop, Retry, Undo, step, step_info, workflow
from plait.embedding import run_workflow
from plait.errors import RunFailed
from plait.testing import DriverFailed, MemoryDriver, VirtualClock

Moment = Literal["before", "after"]
undone: list[str] = []


@step
async def undo(what: Undo) -> None:
    undone.append(what.step)


@step(retry=Retry(max_attempts=3, first=5))
async def halting(n: int) -> int:
    if step_info().attempt < 3:
        raise ConnectionError("again")
    return n


@workflow
async def steps(ctx: Context) -> list[Any]:
    number = await ctx.version("v", 2)
    ctx.publish("state", "begun")
    return [number, await ctx.step("halting", halting, 7), await ctx.step("inline", lambda: {"a": [1.5, None, "é"]})]


@workflow
async def waits(ctx: Context) -> list[Any]:
    first = await ctx.listen("go")
    await ctx.sleep("nap", 60)
    late = await ctx.listen("late", timeout=30)
    rest = await ctx.listen_n("go2", "go", limit=5)
    return [first and first.body, late, [message.body for message in rest]]


@workflow
async def branches(ctx: Context) -> list[Any]:
    async def slow(ctx: Context) -> str:
        await ctx.sleep("nap", 100)
        return "slow"

    async def quick(ctx: Context) -> str:
        return await ctx.step("quick", lambda: "quick", returns=str)

    won = await ctx.race("race", slow=slow, quick=quick)
    both = await ctx.join("join", slow=slow, quick=quick)
    return [won.winner, won.value, both]


@workflow
async def loops(ctx: Context) -> int:
    async def body(ctx: Context, n: int) -> Loop[int, int]:
        await ctx.step("work", lambda: n, rollback=undo)
        await ctx.sleep("nap", 1)
        return Loop.continue_(n + 1) if n < 6 else Loop.break_(n)

    return await ctx.loop("loop", body, state=0, commit_interval=2, history_keep=1)


@workflow
async def undoing(ctx: Context) -> None:
    await ctx.step("named", lambda: 1, rollback=undo)
    await ctx.step("inline", lambda: 2, rollback=lambda what: undone.append(what.step))
    await ctx.sleep("nap", 1)
    raise ValueError("no")


@workflow
async def again(ctx: Context, n: int = 0) -> list[Any]:
    message = await ctx.listen("go")
    if n < 2:
        ctx.continue_as_new(n + 1)
    return [n, message and message.body]


async def played(definition: Any, driver: MemoryDriver, messages: Sequence[Any]) -> tuple[Any, int]:
    """How a run ends, as a host with nothing but the driver plays it; and how often the driver failed."""
    clock, left, failures = VirtualClock(), list(messages), 0
    while True:
        handle = run_workflow("w", definition, None, driver, clock=clock)
        try:
            result = await handle
        except DriverFailed:
            failures += 1
            continue
        except RunFailed as failed:
            return str(failed.error.message), failures
        if result.state == "completed":
            return result.output, failures
        if left and "go" in result.waiting_for:
            body = left.pop(0)
            await handle.message("go", body, f"m-{body}")
            await handle.message("go", body, f"m-{body}")  # sent again by someone who missed the answer
            continue
        assert result.sleep_until == driver.alarms["w"]
        assert result.sleep_until is not None
        await clock.advance((result.sleep_until - clock.now()) / 1000)


@pytest.mark.parametrize(
    ("definition", "messages", "expected"),
    [
        (steps, [], [2, 7, {"a": [1.5, None, "é"]}]),
        (waits, [1, 2, 3], [1, None, [2]]),
        (branches, [], ["quick", "quick", {"slow": "slow", "quick": "quick"}]),
        (loops, [], 6),
        (undoing, [], "no"),
        (again, [1, 2, 3], [2, 3]),
    ],
    ids=["steps", "waits", "branches", "loops", "undoing", "again"],
)
async def test_a_driver_that_fails_at_any_batch_changes_nothing(definition: Any, messages: Any, expected: Any) -> None:
    smooth = MemoryDriver()
    assert await played(definition, smooth, messages) == (expected, 0)
    assert not smooth.alarms
    moments: list[Moment] = ["before", "after"]
    for moment in moments:
        for number in range(1, smooth.batches + 1):
            undone.clear()
            driver = MemoryDriver(number, moment)
            found = await played(definition, driver, messages)
            assert found == (expected, 1), f"{moment} batch {number}"
            if definition is undoing:
                assert sorted(set(undone)) == ["inline", "named"], f"{moment} batch {number}"


async def test_what_a_loop_has_trimmed_is_undone_in_its_turn() -> None:
    """Part of it is kept as entries, and part as what undoes them."""

    @workflow
    async def w(ctx: Context) -> None:
        async def body(ctx: Context, n: int) -> Loop[int, None]:
            inline = lambda what: undone.append(what.step)  # noqa: E731
            await ctx.step("work", lambda: n, rollback=undo if n % 3 else inline)
            return Loop.continue_(n + 1) if n < 7 else Loop.break_()

        await ctx.step("first", lambda: 1, rollback=undo)
        await ctx.loop("l", body, state=0, commit_interval=2, history_keep=2)
        await ctx.sleep("nap", 1)
        raise ValueError("no")

    undone.clear()
    driver, clock = MemoryDriver(), VirtualClock()
    assert (await run_workflow("w", w, None, driver, clock=clock)).state == "sleeping"
    await clock.advance(1)
    with pytest.raises(RunFailed, match="no"):
        await run_workflow("w", w, None, driver, clock=clock)
    assert undone == [*(f"l/~{n}/work" for n in reversed(range(8))), "first"]
