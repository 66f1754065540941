"""Snapshots: by count or by age, and only when there is something new to keep."""

from __future__ import annotations

from plait.kernel.ids import RunId
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock
from tests.kernel.builders import add
from tests.kernel.rig import Rig, rig
from tests.kernel.toy import count

DAY = 86_400.0


async def counted(on: Rig, run: RunId, upto: int, since: int = 0) -> None:
    """One event for each."""
    for number in range(since, upto):
        await on.kernel.send(run, add(1, f"m-{number}"), f"m-{number}")
        await on.settle()


async def snapshot(on: Rig, run: RunId) -> int | None:
    found = await on.store.snapshot(run)
    return None if found is None else int(found.seq)


async def test_a_run_that_lives_long_gets_one_by_age():
    async with rig() as on:
        run = await on.start(count(9_999))
        await counted(on, run, 150)
        assert await snapshot(on, run) is None
        await on.clock.advance(DAY)
        assert await snapshot(on, run) is None, "time alone decides nothing"
        await counted(on, run, 151, since=150)
        assert await snapshot(on, run) == 153  # with the start and the first move


async def test_it_is_not_repeated_without_new_events():
    async with rig() as on:
        run = await on.start(count(9_999))
        await counted(on, run, 150)
        await on.clock.advance(DAY)
        await counted(on, run, 151, since=150)
        first = await snapshot(on, run)
        for number in range(151, 161):  # ten days, an event each
            await on.clock.advance(DAY)
            await counted(on, run, number + 1, since=number)
        assert await snapshot(on, run) == first
        await counted(on, run, 251, since=161)
        assert await snapshot(on, run) == 253  # a hundred events after the first, and more than a day


async def test_a_young_run_with_as_many_events_gets_none():
    async with rig() as on:
        run = await on.start(count(9_999))
        await counted(on, run, 150)
        await on.clock.advance(DAY - 1)
        await counted(on, run, 300, since=150)
        assert await snapshot(on, run) is None


async def test_its_age_counts_from_the_last_one_also_in_another_process():
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    async with rig(store, clock=clock) as on:
        run = await on.start(count(9_999))
        await on.clock.advance(DAY)
        await counted(on, run, 150)
        first = await snapshot(on, run)
        assert first is not None
    async with rig(store, clock=clock, owner="next") as after:
        await counted(after, run, 300, since=150)
        assert await snapshot(after, run) == first
        await after.clock.advance(DAY)
        await counted(after, run, 301, since=300)
        assert await snapshot(after, run) == 303
    await store.dispose()
