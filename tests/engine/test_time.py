"""Time: sleeping runs cost no memory, and a clock that is set back makes nothing early."""

import _weakrefset
import asyncio
import gc
import tracemalloc
from datetime import timedelta

import pytest

from plait import Engine
from plait.kernel.ids import Millis, RunId
from plait.stores.memory import MemoryStore
from plait.stores.run_numbers import RunNumbers
from plait.testing import VirtualClock, sim
from tests.engine.flows import collector, listener, sleeper
from tests.engine.places import Place


async def test_runs_past_the_cache_are_dropped_and_wake_by_message(place: Place):
    async with place.engine(collector, code_cache=3) as engine:
        runs = [await engine.start(collector, 2) for _ in range(20)]
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(engine.kernel.run_cache.all()) <= 3
        for run in runs:
            await run.message("item", 1)
        for run in reversed(runs):
            await run.message("item", 2)
        for run in runs:
            assert await run.result() == [1, 2]


@pytest.mark.parametrize("code_cache", [0, 3, 1000])
async def test_runs_wake_by_timer_whether_they_are_in_memory_or_not(code_cache: int):
    async with sim([sleeper], code_cache=code_cache) as s:
        runs = [await s.start(sleeper, float(number)) for number in range(20)]
        await s.settle()
        for run in runs:
            assert await s.result(run) == "rested"


def _traced() -> int:
    """Bytes in use, but for the table of asyncio's set of all tasks: it doubles now and then, and is nobody's run."""
    mine = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(False, _weakrefset.__file__)])
    return sum(trace.size for trace in mine.traces)


@pytest.mark.costly
async def test_two_thousand_sleeping_runs_take_no_memory_to_speak_of(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(RunNumbers.__init__, "__defaults__", (100,))  # what is kept of the last ones is bounded
    store = MemoryStore()
    async with Engine(store=store, definitions=[sleeper], code_cache=100) as engine:

        async def start(count: int) -> None:
            for _ in range(count // 100):
                await asyncio.gather(*(engine.start(sleeper, 3600.0) for _ in range(100)))
            for _ in range(20):
                await asyncio.sleep(0)
            gc.collect()

        tracemalloc.start()
        await start(500)
        before = _traced()
        await start(2_000)
        after = _traced()
        tracemalloc.stop()
        assert len(engine.kernel.run_cache.all()) <= 100
        assert (after - before) / 2_000 < 100
    await store.dispose()


async def test_a_clock_that_is_set_back_makes_no_timer_early_and_no_event_older():
    async with sim([sleeper]) as s:
        run = await s.start(sleeper, 60.0)
        began = s.clock.time
        await s.clock.advance(30)
        s.clock.set(s.clock.time - timedelta(hours=1))
        await s.clock.advance(31)
        assert await run.status() == "running"
        assert await s.result(run) == "rested"
        assert s.clock.time >= began + timedelta(seconds=60)
        times = [event.at for event in await run.events()]
        assert times == sorted(times)


async def test_a_clock_that_is_set_back_before_a_message_keeps_the_order_of_events():
    async with sim([listener]) as s:
        run = await s.start(listener)
        await s.clock.advance(60)
        s.clock.set(s.clock.time - timedelta(days=365))
        await run.message("go", "hello")
        assert await s.result(run) == "hello"
        times = [event.at for event in await run.events()]
        assert times == sorted(times)
        row = await run.row()
        assert row.ended_at is not None
        assert row.ended_at >= times[0]


async def test_a_clock_that_is_set_forward_fires_what_is_due_by_it():
    async with sim([sleeper]) as s:
        run = await s.start(sleeper, 3600.0)
        await s.settle()
        s.clock.set(s.clock.time + timedelta(hours=2))
        await s.clock.advance(0)
        assert await run.status() == "completed"


async def test_an_engine_on_a_clock_that_was_set_back_while_it_was_closed_goes_on():
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    async with Engine(store=store, clock=clock, definitions=[listener]) as engine:
        run = await engine.start(listener, id="o-1")
    clock.set(clock.time - timedelta(days=1))
    async with Engine(store=store, clock=clock, definitions=[listener]) as engine:
        run = await engine.get("o-1")
        await run.message("go", 1)
        assert await run.result() == 1
        times = [event.at for event in await run.events()]
        assert times == sorted(times)
    await store.dispose()


class Ticking(VirtualClock):
    """Time that goes on between any two looks at it."""

    ticks = 0

    def now(self) -> Millis:
        self.ticks += 1
        return Millis(super().now() + self.ticks)


async def test_a_deadline_counts_from_the_moment_at_which_its_run_is_created():
    clock = Ticking()
    async with Engine(store=MemoryStore(clock=clock), clock=clock, definitions=[listener]) as engine:
        await engine.start(listener, id="o", deadline=60)
        row = await engine.kernel.store.run(RunId("o"))
        assert row is not None
        assert row.deadline == row.created_at + 60_000
