"""Worker processes, two in Python and one in JavaScript, are killed and frozen while they work.

Every task's effect is there, all of a task under one key, and each result is recorded once.
"""

import asyncio
import random
import signal
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from plait.client.client import Client
from tests.faults.remote_flows import crowd
from tests.server.serving import serving
from tests.support import effort
from tests.support.figures import Figures

from .worker_processes import WorkerProcess, node_worker, python_worker, workers

TASKS = effort.tries(200)
EVERY = 1.0
"""Seconds between two blows."""
LEASE = 2
QUEUE = "chaos"
HANDLERS = Path(__file__).with_name("remote_handlers.mjs")


class Striker:
    """Kills one of them every second, or freezes it for longer than its lease."""

    def __init__(self, found: list[WorkerProcess], luck: random.Random) -> None:
        self._workers = found
        self._luck = luck
        self.kills = 0
        self.freezes = 0

    async def strike_until(self, done: asyncio.Future[Any]) -> None:
        while not done.done():
            await asyncio.wait([done], timeout=EVERY)
            if not done.done():
                await self._strike(self._luck.choice(self._workers))

    async def _strike(self, worker: WorkerProcess) -> None:
        if self._luck.random() < 0.3:
            self.freezes += 1
            worker.signal(signal.SIGSTOP)
            await asyncio.sleep(LEASE * 1.5)
            worker.signal(signal.SIGCONT)
        else:
            self.kills += 1
            worker.replace()


def effects(ledger: Path) -> Counter[tuple[int, str]]:
    """By task and key."""
    found = Counter[tuple[int, str]]()
    for line in ledger.read_text().splitlines():
        number, key, *_ = line.split()
        found[int(number), key] += 1
    return found


@pytest.mark.timeout(1800 if effort.is_long() else 300)
@pytest.mark.chance
@pytest.mark.trial
async def test_killed_and_frozen_workers_lose_and_double_nothing(database: str, ledger: Path, figures: Figures):
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(database))
        served.engine.code.registry.add(crowd)
        client = await stack.enter_async_context(Client(served.url))
        source = database if database.startswith("postgres") else served.url
        options = ("--queue", QUEUE, "--lease", str(LEASE), "--concurrency", "8")
        python = python_worker("tests.faults.remote_flows", source, ledger, *options)
        node = node_worker(served.url, QUEUE, ledger, HANDLERS, LEASE)
        striker = Striker(stack.enter_context(workers(python, python, node)), random.Random(f"{database} {TASKS}"))
        run = await client.start("crowd", TASKS, id="crowd")
        done = asyncio.ensure_future(run.result())
        await striker.strike_until(done)
        assert await done == sum(range(TASKS))
        events = await run.events()
    found = effects(ledger)
    figures.note("tasks", TASKS)
    figures.note("kills", striker.kills)
    figures.note("freezes", striker.freezes)
    figures.note("effects", found.total())
    figures.note("effects again, same key", found.total() - len(found))
    results = Counter(event.data["at"] for event in events if event.type == "op.closed")
    expected = {f"e{number}" for number in range(TASKS)}
    figures.none("results lost", len(expected - set(results)))
    figures.none("results recorded twice", results.total() - len(results))
    assert set(results) == expected
    assert set(found) == {(number, f"crowd:e{number}:0") for number in range(TASKS)}, "an effect under another key"
    assert striker.kills + striker.freezes, "nobody was struck: give it more tasks"
