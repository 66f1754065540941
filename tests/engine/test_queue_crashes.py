"""The engine dies before, inside and after each commit of runs with tasks on a queue: every task is done, and once."""

import asyncio
from collections.abc import Sequence
from typing import Any, get_args

import pytest

from plait import Context, Engine, step, workflow
from plait.kernel.errors import ErrorInfo, NotFound, Unavailable
from plait.kernel.store import Write
from plait.stores.memory import MemoryStore, Moment
from plait.testing import VirtualClock
from plait.testing.sim.simulator import SimulatedCrash

LEASE_TTL = 1.0
NO_PAPER = ErrorInfo("task.failed", "no paper")


@step
async def here(n: int) -> int:
    return n


@step(queue="gpu", max_attempts=2)
async def there(n: int) -> int:
    raise AssertionError("the engine's own process must not do this")


@workflow
async def mixed(ctx: Context) -> list[int]:
    first = await asyncio.gather(*(ctx.step(f"there-{n}", there, n) for n in range(2)), ctx.step("here", here, 7))
    return [*first, await ctx.step("last", there, 9)]


class CrashAt:
    def __init__(self, number: int, moment: Moment) -> None:
        self._number = number
        self._moment: Moment = moment
        self.commits = 0
        self.crashed = False

    def __call__(self, moment: Moment, writes: Sequence[Write]) -> None:
        self.commits += moment == "before"
        if self.commits == self._number and moment == self._moment and not self.crashed:
            self.crashed = True
            raise SimulatedCrash


class World:
    """A store that outlives its engines, and a worker that outlives both."""

    def __init__(self, faults: CrashAt, cache: int) -> None:
        self.clock = VirtualClock()
        self.store = MemoryStore(clock=self.clock, faults=faults)
        self._cache = cache
        self.done: list[tuple[str, int]] = []
        """What the worker did: key and attempt."""
        self._failed = False

    async def open(self) -> None:
        self.engine = Engine(
            store=self.store, clock=self.clock, definitions=[mixed], lease_ttl=LEASE_TTL, code_cache=self._cache
        )
        await self.engine.__aenter__()

    async def insist(self, what: Any) -> Any:
        """Does it, with another engine if the one at hand dies of it."""
        while True:
            try:
                return await what()
            except Unavailable:
                await self.engine.kernel.crash()
                await self.clock.advance(2 * LEASE_TTL)
                await self.open()

    async def work(self) -> None:
        """One round of the worker: its first task fails once."""
        for task in await self.insist(lambda: self.engine.queues.claim("w", ["gpu"], limit=10, lease_ms=600_000)):
            self.done.append((task.key, task.attempt))
            if not self._failed:
                self._failed = True
                await self.insist(lambda task=task: self.engine.queues.fail(task.id, NO_PAPER))
            else:
                output = task.input["arguments"][0]
                await self.insist(lambda task=task, output=output: self.engine.queues.complete(task.id, output))
        await self.clock.advance(1)

    async def output(self) -> list[int] | None:
        try:
            row = await self.insist(lambda: self._row())
        except NotFound:
            return None
        assert row.status in ("running", "completed"), row.error
        return None if row.status == "running" else await self.insist(lambda: self._result())

    async def _row(self) -> Any:
        return await (await self.engine.get("m")).row()

    async def _result(self) -> Any:
        return await (await self.engine.get("m")).result()


async def run_with(faults: CrashAt, cache: int) -> World:
    world = World(faults, cache)
    await world.open()
    await world.insist(lambda: world.engine.start(mixed, id="m"))
    for _ in range(50):
        await world.work()
        if (found := await world.output()) is not None:
            assert found == [0, 1, 7, 9]
            return world
    raise AssertionError("the run does not end")


@pytest.mark.parametrize("cache", [1000, 0])
@pytest.mark.parametrize("moment", get_args(Moment))
async def test_a_crash_at_any_commit_loses_and_doubles_no_queued_task(moment: Moment, cache: int):
    calm = CrashAt(0, moment)
    undisturbed = await run_with(calm, cache)
    crashes = 0
    for number in range(1, calm.commits + 1):
        faults = CrashAt(number, moment)
        world = await run_with(faults, cache)
        crashes += faults.crashed
        assert world.done == undisturbed.done, f"{moment} commit {number}"
        run = await world.engine.get("m")
        events = [event for event in await run.events() if event.type in ("task.queued", "task.late", "op.closed")]
        assert [event.type for event in events].count("task.queued") == 4
        assert "task.late" not in {event.type for event in events}
        closed = [event.data["at"] for event in events if event.type == "op.closed"]
        assert sorted(closed) == ["here", "last", "there-0", "there-1"]
        await world.engine.__aexit__(None, None, None)
    assert crashes >= calm.commits - 2
