"""Durable timers: never early, always once, and none forgotten."""

import asyncio
from collections.abc import Collection
from datetime import timedelta

import pytest

from plait.kernel.background import Background
from plait.kernel.errors import Unavailable
from plait.kernel.ids import SHARDS, Epoch, Millis, RunId, Shard, TaskToken
from plait.kernel.inputs import AnyInput, TimerFired
from plait.kernel.observer import Observers
from plait.kernel.store import TimerRow
from plait.kernel.timers import Timers
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock
from tests.contract.stores.builders import must, own_all
from tests.kernel.builders import all_shards
from tests.kernel.rig import rig
from tests.kernel.toy import nap

ALL = [Shard(number) for number in range(SHARDS)]


class SlowStore(MemoryStore):
    """Takes its time to say what is due, as one over a network does."""

    gate: asyncio.Event | None = None
    away = False

    async def due(self, shards: Collection[Shard], now: Millis, limit: int) -> list[TimerRow]:
        if self.away:
            raise Unavailable("store.away", "the store is away")
        found = await super().due(shards, now, limit)
        await self._slowly()
        return found

    async def next_due(self, shards: Collection[Shard], after: Millis = Millis(0)) -> Millis | None:
        found = await super().next_due(shards, after)
        await self._slowly()
        return found

    async def _slowly(self) -> None:
        if self.gate is not None:
            await self.gate.wait()


class Bench:
    """Timers on a real table of timers, that only note what they fire."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.store = SlowStore(clock=self.clock)
        self.leases = all_shards()
        self.fired: list[str] = []
        self.background = Background(self.clock, Observers())
        self.alarms = Timers(self.store, self.clock, self.leases, self, self.background)

    async def open(self) -> None:
        await self.store.open()
        self.owner = await own_all(self.store)

    def deliver(self, run_id: RunId, input: AnyInput, key: str | None) -> None:
        assert isinstance(input, TimerFired)
        self.fired.append(input.token)

    async def set(self, token: str, seconds: float, *, by_another: bool = False) -> None:
        due = Millis(self.clock.now() + round(seconds * 1000))
        write = self.owner.write("run")
        write.timers = [TimerRow(write.run_id, write.shard, TaskToken(token), due)]
        await must(self.store, write)
        if not by_another:
            self.alarms.note(due)

    async def clear(self, token: str, run_id: str = "run") -> None:
        write = self.owner.write(run_id, cleared=[TaskToken(token)])
        await must(self.store, write)
        self.alarms.fired(RunId(run_id), TaskToken(token))


async def bench() -> Bench:
    found = Bench()
    await found.open()
    return found


async def test_a_timer_fires_when_its_time_has_come_and_not_before():
    on = await bench()
    await on.set("t", 10)
    await on.clock.advance(9.999)
    assert on.fired == []
    await on.clock.advance(0.001)
    assert on.fired == ["t"]


async def test_timers_fire_in_the_order_they_are_due():
    on = await bench()
    for token, seconds in (("c", 3), ("a", 1), ("b", 2)):
        await on.set(token, seconds)
    await on.clock.advance(60)
    assert on.fired == ["a", "b", "c"]


async def test_a_timer_that_fires_is_not_fired_again_while_its_run_decides():
    on = await bench()
    await on.set("t", 1)
    await on.clock.advance(30)
    assert on.fired == ["t"]
    await on.clear("t")
    await on.clock.advance(30)
    assert on.fired == ["t"]


async def test_a_timer_is_not_late_because_the_one_before_it_is_under_way():
    on = await bench()
    await on.set("a", 1)
    await on.set("b", 1.05)
    await on.clock.advance(1)
    assert on.fired == ["a"]  # its run has not decided yet
    await on.clock.advance(0.05)
    assert on.fired == ["a", "b"]


async def test_a_timer_whose_run_was_dropped_before_it_decided_fires_again():
    on = await bench()
    await on.set("t", 1)
    await on.clock.advance(1)
    on.alarms.forget(RunId("run"))
    await on.clock.advance(5)
    assert on.fired == ["t", "t"]


async def test_a_timer_that_is_set_anew_while_it_fires_fires_again_at_its_new_time():
    on = await bench()
    await on.set("t", 1)
    await on.clock.advance(1)
    await on.set("t", 5)
    await on.clock.advance(4)
    assert on.fired == ["t"]
    await on.clock.advance(1)
    assert on.fired == ["t", "t"]


async def test_thousands_of_timers_of_one_moment_all_fire():
    on = await bench()
    for number in range(1_600):
        await on.set(f"t-{number}", 1)
    await on.clock.advance(1)
    assert len(set(on.fired)) == len(on.fired) == 1_600


async def test_a_clock_that_is_set_back_makes_no_timer_early():
    on = await bench()
    await on.set("t", 60)
    on.clock.set(on.clock.time - timedelta(hours=1))
    await on.clock.advance(61)
    assert on.fired == []
    await on.clock.advance(3600)
    assert on.fired == ["t"]


async def test_a_clock_that_is_set_forward_fires_what_is_due_by_it():
    on = await bench()
    await on.set("t", 3600)
    on.clock.set(on.clock.time + timedelta(hours=2))
    await on.clock.advance(0)
    assert on.fired == ["t"]


async def test_an_earlier_timer_that_is_set_while_the_next_one_is_looked_up_is_not_late():
    on = await bench()
    await on.set("late", 3600)
    on.store.gate = asyncio.Event()
    looking = asyncio.ensure_future(on.alarms.look())
    await asyncio.sleep(0)
    await on.set("soon", 5)
    on.store.gate.set()
    await looking
    on.store.gate = None
    await on.clock.advance(5)
    assert on.fired == ["soon"]


async def test_shards_gained_while_a_look_is_under_way_are_looked_at_too():
    on = await bench()
    await on.set("mine", 1, by_another=True)
    on.leases.clear()
    on.store.gate = asyncio.Event()
    looking = asyncio.ensure_future(on.alarms.look())
    await asyncio.sleep(0)
    for shard in ALL:
        on.leases.take(shard, Epoch(1))
    await on.alarms.look()
    on.store.gate.set()
    await looking
    await on.clock.advance(5)
    assert on.fired == ["mine"]


async def test_after_an_outage_all_timers_are_there_again():
    on = await bench()
    await on.set("a", 1)
    on.store.away = True
    await on.clock.advance(10)
    await on.set("b", 5)
    on.store.away = False
    await on.clock.advance(10)
    assert on.fired == ["a", "b"]


# -- in a kernel -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cache_size", [0, 1000])
async def test_a_run_sleeps_for_a_year_without_being_in_memory(cache_size: int):
    async with rig(cache_size=cache_size, ttl=Millis(10**13)) as on:
        run = await on.start(nap(366 * 86_400_000))
        await on.settle()
        assert (on.kernel.run_cache.get(run) is None) == (cache_size == 0)
        began = on.clock.now()
        assert (await on.output(run))["outputs"] == ["rested"]
        assert on.clock.now() - began >= 366 * 86_400_000


async def test_a_sleep_goes_on_after_a_restart_and_is_not_begun_anew():
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    async with rig(store, clock=clock) as on:
        run = await on.start(nap(60_000))
        await on.clock.advance(50)
    async with rig(store, clock=clock) as on:
        await on.clock.advance(9.9)
        assert (await on.row(run)).status == "running"
        await on.clock.advance(0.2)
        assert (await on.row(run)).status == "completed"
    await store.dispose()


async def test_a_timer_that_came_due_while_no_engine_ran_fires_at_the_next_start():
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    async with rig(store, clock=clock) as on:
        run = await on.start(nap(60_000))
    clock.settle = _nothing
    await clock.advance(3600)
    async with rig(store, clock=clock) as on:
        await on.settle()
        assert (await on.row(run)).status == "completed"
    await store.dispose()


async def _nothing() -> None:
    return None
