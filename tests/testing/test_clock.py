import asyncio
from datetime import UTC, datetime, timedelta

from plait.kernel.clock import Clock
from plait.testing import VirtualClock


def ringing(clock: VirtualClock, *seconds: float) -> list[tuple[float, float]]:
    """Sets alarms; the list grows as they ring: which one, and when."""
    rung: list[tuple[float, float]] = []
    for wait in seconds:
        clock.call_later(wait, lambda wait=wait: rung.append((wait, clock.monotonic())))
    return rung


def test_it_is_a_clock_of_the_kernel():
    clock: Clock = VirtualClock(datetime(2031, 5, 1, tzinfo=UTC))
    assert clock.now() == 1_935_360_000_000
    assert clock.monotonic() == 0.0


async def test_it_stands_still_until_it_is_told_to_move():
    clock = VirtualClock()
    before = clock.now()
    await asyncio.sleep(0.01)
    assert clock.now() == before
    await clock.advance(1.5)
    assert clock.now() == before + 1500


async def test_alarms_ring_in_order_each_at_its_time():
    clock = VirtualClock()
    rung = ringing(clock, 3.0, 1.0, 2.0, 9.0)
    await clock.advance(timedelta(seconds=5))
    assert rung == [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]
    await clock.advance(5)
    assert rung[-1] == (9.0, 9.0)


async def test_an_alarm_that_was_cancelled_does_not_ring():
    clock = VirtualClock()
    rung: list[str] = []
    clock.call_later(1, lambda: rung.append("first")).cancel()
    clock.call_later(1, lambda: rung.append("second"))
    await clock.advance(2)
    assert rung == ["second"]


async def test_what_an_alarm_sets_off_settles_before_time_goes_on():
    clock = VirtualClock()
    seen: list[float] = []

    async def work() -> None:
        await asyncio.sleep(0)
        seen.append(clock.monotonic())

    tasks: list[asyncio.Task[None]] = []
    clock.call_later(1, lambda: tasks.append(asyncio.ensure_future(work())))
    await clock.advance(10)
    assert seen == [1.0]


async def test_an_alarm_set_while_time_passes_rings_on_the_way():
    clock = VirtualClock()
    rung: list[float] = []

    def again() -> None:
        rung.append(clock.monotonic())
        clock.call_later(1, again)

    clock.call_later(1, again)
    await clock.advance(3)
    assert rung == [1.0, 2.0, 3.0]


async def test_a_sleeper_wakes_when_its_time_has_come():
    clock = VirtualClock()
    asleep = asyncio.ensure_future(clock.sleep(60))
    await clock.advance(59)
    assert not asleep.done()
    await clock.advance(1)
    await asleep


async def test_setting_the_clock_back_takes_wall_time_back_and_nothing_else():
    clock = VirtualClock()
    start = clock.time
    await clock.advance(100)
    clock.set(start)
    assert clock.time == start
    assert clock.monotonic() == 100.0


async def test_setting_the_clock_wakes_those_who_wait_for_wall_time_but_no_sleeper():
    clock = VirtualClock()
    rung = ringing(clock, 3600.0)
    asleep = asyncio.ensure_future(clock.sleep(3600))
    await clock.advance(0)
    clock.set(clock.time + timedelta(hours=2))
    await clock.advance(0)
    assert rung == [(3600.0, 0.0)]
    assert not asleep.done()
    await clock.advance(3600)
    await asleep
