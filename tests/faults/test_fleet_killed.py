"""Engines of a fleet and its workers, killed at random for minutes: what they had under way goes on elsewhere, soon."""

import asyncio
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from plait import Engine
from plait.client.client import Client
from plait.errors import Unavailable
from tests.server.contract.processes import ServeProcess, serving
from tests.support import effort
from tests.support.figures import Figures

from .evidence import (
    Blow,
    assert_every_step_ran_under_one_key,
    recorded_twice,
    repeated,
    runs_resumed_after,
    steps_resumed_after,
)
from .work import QUEUE, STEPS_OF_CARRYING, carrying, entries
from .worker_processes import WorkerProcess, python_worker, workers

T = TypeVar("T")
SECONDS = 600 if effort.is_long() else 30
RUNS = 10_000 if effort.is_long() else 120
ENGINES, WORKERS = 3, 2
LEASE = 10.0
"""Of an engine, as `plait serve` has it."""
WORKERS_LEASE = 5
SOON = 2.0
"""Seconds more than a lease. Not a limit of the short form: it runs beside other tests, and kills a few only."""


@dataclass
class Killer:
    """Every one to five seconds, one of all of them."""

    server: ServeProcess
    workers: list[WorkerProcess]
    chosen: random.Random
    engines: list[Blow] = field(default_factory=list[Blow])
    killed_workers: list[Blow] = field(default_factory=list[Blow])

    async def kill_until(self, over: asyncio.Future[None]) -> None:
        while not (await asyncio.wait([over], timeout=self.chosen.uniform(1, 5)))[0]:
            self._kill_one()

    def _kill_one(self) -> None:
        by_pid = {worker.pid: worker for worker in self.workers}
        pid = self.chosen.choice([*self.server.engines(), *by_pid])
        blow = Blow(pid, time.monotonic_ns())
        if worker := by_pid.get(pid):
            self.killed_workers.append(blow)
            worker.replace()
        else:
            self.engines.append(blow)
            os.kill(pid, signal.SIGKILL)


@dataclass
class Caller:
    """Starts runs at a steady pace, and asks for each until it has ended."""

    client: Client
    operations: int = 0
    refused: int = 0
    outputs: dict[int, int] = field(default_factory=dict[int, int])

    async def call(self, runs: int, seconds: float) -> None:
        async with asyncio.TaskGroup() as calls:
            began = time.monotonic()
            for number in range(runs):
                calls.create_task(self._one(number))
                await asyncio.sleep(max(0.0, began + seconds * number / runs - time.monotonic()))

    async def _one(self, number: int) -> None:
        run = await self._tried(lambda: self.client.start("carrying", number, id=f"sum-{number}"))
        assert await self._tried(run.status) in ("running", "completed")
        self.outputs[number] = await self._tried(run.result)

    async def _tried(self, operation: Callable[[], Awaitable[T]]) -> T:
        """What is refused counts as that, and is asked for again."""
        while True:
            self.operations += 1
            try:
                return await operation()
            except Unavailable:
                self.refused += 1
                await asyncio.sleep(0.1)


@pytest.mark.timeout(3600 if effort.is_long() else 300)
@pytest.mark.chance
@pytest.mark.trial
async def test_engines_and_workers_killed_at_random(postgres_url: str, ledger: Path, figures: Figures):
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(postgres_url, ledger, "--processes", str(ENGINES)))
        worker = python_worker(
            "tests.faults.work", postgres_url, ledger, "--queue", QUEUE, "--lease", str(WORKERS_LEASE)
        )
        caller = Caller(await stack.enter_async_context(Client(server.url)))
        killer = Killer(server, stack.enter_context(workers(*[worker] * WORKERS)), random.Random(16))
        calling = asyncio.ensure_future(caller.call(RUNS, SECONDS))
        await killer.kill_until(calling)
        await calling
    assert caller.outputs == {number: number + 5 for number in range(RUNS)}
    assert_every_step_ran_under_one_key(ledger, RUNS, STEPS_OF_CARRYING)
    figures.note("runs", RUNS)
    figures.note("engines killed", len(killer.engines))
    figures.note("workers killed", len(killer.killed_workers))
    figures.note("effects", len(entries(ledger)))
    figures.note("effects again, same key", repeated(ledger))
    async with Engine(postgres_url, definitions=[carrying], work=False) as reader:
        handles = [await reader.get(f"sum-{number}") for number in range(RUNS)]
        figures.none("runs recorded wrongly", await recorded_twice(handles))
    figures.note("operations", caller.operations)
    figures.at_least("operations that succeed", 100 * (1 - caller.refused / caller.operations), 99, "%")
    steps = entries(ledger)
    of_workers = [entry for entry in steps if entry.path.endswith("/worker")]
    of_engines = [entry for entry in steps if not entry.path.endswith("/worker")]
    soon = (LEASE + SOON, WORKERS_LEASE + SOON) if effort.is_long() else (None, None)
    figures.spread("run resumed", runs_resumed_after(of_engines, killer.engines), soon[0])
    figures.spread("task resumed", steps_resumed_after(of_workers, killer.killed_workers), soon[1])
