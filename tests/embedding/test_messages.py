"""Messages to embedded runs: written once, heard once, in order, whoever sends them and whenever."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from plait import Context, Loop, workflow
from plait.embedding import WorkflowHandle, run_workflow
from plait.embedding.keys import pack
from plait.errors import Conflict
from plait.kernel.errors import Busy, InvalidInput
from plait.testing import DriverFailed, MemoryDriver, VirtualClock


@workflow
async def two(ctx: Context) -> list[Any]:
    first = await ctx.listen("first", "go")
    second = await ctx.listen("second", "go", timeout=1000)
    return [first and first.body, second and second.body]


@workflow
async def count(ctx: Context) -> int:
    async def body(ctx: Context, n: int) -> Loop[int, int]:
        message = await ctx.listen("go")
        return Loop.break_(n) if message is None or message.body == "stop" else Loop.continue_(n + 1)

    return await ctx.loop("loop", body, state=0, commit_interval=1, history_keep=0)


class SlowDriver(MemoryDriver):
    """Others have their turn while it writes."""

    async def set(self, key: bytes, value: bytes) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        await super().set(key, value)


async def stop(handle: WorkflowHandle) -> None:
    handle._task.cancel()
    await asyncio.gather(handle._task, return_exceptions=True)


def waiting(driver: MemoryDriver) -> int:
    return sum(key.startswith(pack(3)) for key in driver.pairs)


@pytest.mark.parametrize("times", [1, 3])
async def test_one_that_was_heard_in_a_live_pass_is_not_heard_again(times: int) -> None:
    driver, clock = SlowDriver(), VirtualClock()
    handle = run_workflow("w", two, None, driver, "live", clock=clock)
    await clock.advance(1)
    await asyncio.gather(*(handle.message("go", 1, "m-1") for _ in range(times)))
    assert waiting(driver) == 0
    await stop(handle)
    result = await run_workflow("w", two, None, driver, clock=clock)
    assert (result.state, result.waiting_for) == ("sleeping", ["go"])


async def test_those_sent_at_once_are_all_kept() -> None:
    driver, clock = SlowDriver(), VirtualClock()
    handle = run_workflow("w", count, None, driver, clock=clock)
    await handle
    others = [run_workflow("w", count, None, driver, clock=clock) for _ in range(3)]
    await asyncio.gather(*others)
    await asyncio.gather(*(each.message("go", n, f"m-{n}") for n, each in enumerate([handle, *others] * 5)))
    assert waiting(driver) == 20
    await handle.message("go", "stop")
    assert (await run_workflow("w", count, None, driver, clock=clock)).output == 20


async def test_one_from_elsewhere_during_a_pass_is_not_overwritten() -> None:
    driver, clock = MemoryDriver(), VirtualClock()
    idle = run_workflow("w", two, None, driver, clock=clock)
    await idle
    live = run_workflow("w", two, None, driver, "live", clock=clock)
    await clock.advance(1)
    await idle.message("go", "elsewhere")  # for the next pass
    await live.message("go", "here")
    assert waiting(driver) == 1
    await stop(live)
    assert (await run_workflow("w", two, None, driver, clock=clock)).output == ["here", "elsewhere"]


async def test_a_first_pass_hears_what_is_sent_while_its_steps_run() -> None:
    """And can be cancelled."""
    begun = asyncio.Event()

    @workflow
    async def w(ctx: Context) -> Any:
        async def forever() -> None:
            begun.set()
            await asyncio.Event().wait()

        won = await ctx.race("r", step=lambda c: c.step("s", forever), stop=lambda c: c.listen("stop"))
        await ctx.step("again", forever)
        return won.winner

    driver = MemoryDriver()
    handle = run_workflow("w", w, None, driver)
    await begun.wait()
    begun.clear()
    await handle.message("stop")
    await begun.wait()
    await handle.cancel()
    assert await handle.state() == "cancelled"


async def test_one_sent_again_after_its_iteration_was_trimmed_is_not_heard_again() -> None:
    driver, clock = MemoryDriver(), VirtualClock()
    for n in [0, 1, 0, 2, 1, 0, 2]:
        handle = run_workflow("w", count, None, driver, clock=clock)
        await handle
        await handle.message("go", n, f"m-{n}")
    await (handle := run_workflow("w", count, None, driver, clock=clock))
    assert waiting(driver) == 0
    await handle.message("go", "stop")
    assert (await run_workflow("w", count, None, driver, clock=clock)).output == 3


async def test_those_sent_before_the_start_are_heard_by_a_live_pass() -> None:
    driver, clock, other = MemoryDriver(), VirtualClock(), MemoryDriver()
    elsewhere = run_workflow("w", two, None, other, clock=clock)
    await elsewhere
    for n in (1, 2):
        await elsewhere.message("go", n)
    for key, value in await other.list(pack(3)):
        await driver.set(key, value)
    assert (await run_workflow("w", two, None, driver, "live", clock=clock)).output == [1, 2]
    assert waiting(driver) == 0


async def test_an_ended_run_takes_none() -> None:
    driver, clock = MemoryDriver(), VirtualClock()
    handle = run_workflow("w", two, None, driver, clock=clock)
    await handle
    await handle.message("go", 1, "m-1")
    await handle.message("go", 2, "m-2")
    handle = run_workflow("w", two, None, driver, clock=clock)
    await handle
    await handle.message("go", 2, "m-2")  # sent again by someone who missed the answer
    with pytest.raises(Conflict, match="an ended run takes no messages"):
        await handle.message("go", 3)
    assert waiting(driver) == 0


async def test_what_can_not_be_sent_is_refused() -> None:
    driver, clock = MemoryDriver(), VirtualClock()
    handle = run_workflow("w", two, None, driver, clock=clock)
    await handle
    for name, id in (("", None), ("a\0b", None), ("go", "x" * 201)):
        with pytest.raises(InvalidInput):
            await handle.message(name, 1, id)
    body = next(iter(await _one_message(clock)))
    for n in range(10_000):
        driver.pairs[pack(3, n + 1)] = body
    with pytest.raises(Busy, match="10,000 messages wait"):
        await handle.message("go")


async def _one_message(clock: VirtualClock) -> list[bytes]:
    driver = MemoryDriver()
    handle = run_workflow("w", two, None, driver, clock=clock)
    await handle
    await handle.message("other", 1, "m-1")
    return [value for _, value in await driver.list(pack(3))]


async def test_whoever_cancels_is_told_that_the_driver_failed() -> None:
    driver = MemoryDriver(fail_at=2)
    handle = run_workflow("w", two, None, driver, "live", clock=VirtualClock())
    with pytest.raises(DriverFailed):
        await handle.cancel()


async def test_times_before_1970_have_passed() -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        await ctx.sleep_until("nap", datetime(1960, 1, 1, tzinfo=UTC))
        await ctx.sleep("longer", -3_000_000_000)
        return await ctx.listen("m", until=datetime(1950, 1, 1, tzinfo=UTC))

    assert (await run_workflow("w", w, None, MemoryDriver(), clock=VirtualClock())).state == "completed"
