"""Many timeouts, one alarm: each runs out at its time, in order, and none waits for another."""

from plait.testing import VirtualClock
from plait.workers.deadlines import Deadlines


class Bench:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.expired: list[tuple[str, float]] = []
        self.again: dict[str, float] = {}
        """Items that are begun again when they expire, once, with this limit."""
        self.deadlines: Deadlines[str] = Deadlines(self.clock, self._expire)

    def _expire(self, item: str) -> None:
        self.expired.append((item, self.clock.monotonic()))
        limit = self.again.pop(item, None)
        if limit is not None:
            self.deadlines.begin_again(item, self.clock.monotonic() + limit)


async def test_an_item_expires_when_its_time_is_up_and_not_before():
    on = Bench()
    on.deadlines.begin("a", 5)
    await on.clock.advance(4.999)
    assert on.expired == []
    await on.clock.advance(0.001)
    assert on.expired == [("a", 5)]


async def test_an_item_that_ended_in_time_does_not_expire():
    on = Bench()
    on.deadlines.begin("a", 5)
    on.deadlines.end("a", 5)
    await on.clock.advance(60)
    assert on.expired == []


async def test_items_of_different_limits_expire_each_at_its_own_time():
    on = Bench()
    on.deadlines.begin("slow", 60)
    on.deadlines.begin("quick", 1)
    await on.clock.advance(10)
    on.deadlines.begin("late", 1)
    await on.clock.advance(100)
    assert on.expired == [("quick", 1), ("late", 11), ("slow", 60)]


async def test_a_thousand_items_of_one_limit_need_one_alarm():
    on = Bench()
    for number in range(1_000):
        on.deadlines.begin(f"{number}", 30)
    assert len(on.clock._alarms) == 1  # pyright: ignore[reportPrivateUsage]
    await on.clock.advance(30)
    assert len(on.expired) == 1_000


async def test_an_item_that_is_begun_again_holds_up_nobody_else():
    """As a step with a long heartbeat does, beside one with a short one."""
    on = Bench()
    on.again = {"patient": 60}
    on.deadlines.begin("patient", 10)
    await on.clock.advance(9.5)
    on.deadlines.begin("quick", 1)
    await on.clock.advance(60)
    assert on.expired == [("patient", 10), ("quick", 10.5)]
    await on.clock.advance(60)
    assert on.expired[-1] == ("patient", 70)


async def test_an_item_that_is_begun_again_holds_up_nobody_of_its_own_limit():
    on = Bench()
    on.again = {"first": 10}
    on.deadlines.begin("first", 10)
    await on.clock.advance(5)
    on.deadlines.begin("second", 10)
    await on.clock.advance(60)
    assert on.expired == [("first", 10), ("second", 15), ("first", 20)]


async def test_an_item_that_counts_from_an_earlier_moment_is_not_late():
    on = Bench()
    await on.clock.advance(4)
    on.deadlines.begin("fresh", 10)
    on.deadlines.begin_again("older", 11)
    await on.clock.advance(60)
    assert on.expired == [("older", 11), ("fresh", 14)]


async def test_an_item_begun_again_that_ends_in_time_does_not_expire():
    on = Bench()
    on.again = {"a": 5}
    on.deadlines.begin("a", 5)
    await on.clock.advance(6)
    on.deadlines.end("a", 5)
    await on.clock.advance(60)
    assert on.expired == [("a", 5)]


async def test_after_a_stop_nothing_expires():
    on = Bench()
    on.deadlines.begin("a", 5)
    on.deadlines.begin_again("b", 5)
    on.deadlines.stop()
    await on.clock.advance(60)
    assert on.expired == []


async def test_limits_that_nobody_uses_any_more_take_no_room():
    on = Bench()
    for number in range(100):
        on.deadlines.begin("a", number + 1)
        on.deadlines.end("a", number + 1)
    await on.clock.advance(200)
    assert on.deadlines._lanes == {}  # pyright: ignore[reportPrivateUsage]
