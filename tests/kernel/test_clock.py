"""The clock of the machine: whoever waits for a wall time soon sees that it was set forward."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from plait import Context, Engine, workflow
from plait.kernel.clock import Alarm, SystemClock
from plait.kernel.ids import Millis

HOUR = 3_600


class Jumping(SystemClock):
    """Its wall time can be set forward, as after a laptop was closed. It notes how long it was asked to wait."""

    def __init__(self) -> None:
        self.ahead = 0
        self.waits: list[float] = []

    def now(self) -> Millis:
        return Millis(super().now() + self.ahead)

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Alarm:
        self.waits.append(seconds)
        return super().call_later(seconds, callback)


async def test_who_waits_for_a_wall_time_looks_at_it_twice_a_second():
    clock = Jumping()
    for wait in (0, 100, HOUR * 1000, 400 * 365 * 86_400_000):
        clock.call_at(Millis(clock.now() + wait), lambda: None).cancel()
    assert clock.waits[0] == 0.0
    assert all(0.0 <= wait <= 0.5 for wait in clock.waits)


async def test_who_waits_for_time_to_pass_is_not_woken_early():
    clock = Jumping()
    clock.call_later(60, lambda: None).cancel()
    assert clock.waits == [60]


@workflow
async def nap(ctx: Context) -> str:
    await ctx.sleep("nap", HOUR)
    return "awake"


async def test_a_sleep_ends_soon_after_the_clock_was_set_forward():
    clock = Jumping()
    async with Engine("memory:", definitions=[nap], clock=clock) as engine:
        handle = await engine.start(nap)
        while not await handle.waiting():  # noqa: ASYNC110
            await asyncio.sleep(0)
        clock.ahead = HOUR * 1000
        async with asyncio.timeout(5):  # it was up to ten seconds
            assert await handle.result() == "awake"
