"""Worker processes, two in Python and one in JavaScript, are killed and frozen while they work.

Every task's effect is there, all of a task under one key, and each result is recorded once.
"""

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from plait.client.client import Client
from tests.faults.remote_flows import LEDGER, crowd
from tests.server.serving import serving
from tests.support.effort import tries

TASKS = tries(200)
EVERY = 1.0
"""Seconds between two blows."""
LEASE = 2
ROOT = Path(__file__).parents[2]
PLAIT = Path(sys.executable).with_name("plait")


class Worker:
    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._command = command
        self._environment = {**os.environ, **environment}
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            cwd=ROOT,
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )

    async def kill(self) -> None:
        self.signal(signal.SIGKILL)
        if self._process is not None:
            await self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)


@asynccontextmanager
async def crew(url: str, source: str, ledger: Path) -> AsyncGenerator[list[Worker]]:
    python = [str(PLAIT), "worker", "tests.faults.remote_flows", "--queue", "chaos", "--db", source]
    python += ["--lease", str(LEASE), "--concurrency", "8", "--log-level", "error"]
    node = {"PLAIT_URL": url, "PLAIT_HANDLERS": str(Path(__file__).with_name("remote_handlers.mjs"))}
    found = [
        Worker(python, {LEDGER: str(ledger)}),
        Worker(python, {LEDGER: str(ledger)}),
        Worker(["node", "examples/worker.js", "chaos"], {**node, LEDGER: str(ledger), "PLAIT_LEASE_MS": f"{LEASE}000"}),
    ]
    try:
        for worker in found:
            await worker.start()
        yield found
    finally:
        for worker in found:
            await worker.kill()


async def strike(worker: Worker, luck: random.Random) -> None:
    """Kills it, or freezes it for longer than its lease."""
    if luck.random() < 0.3:
        worker.signal(signal.SIGSTOP)
        await asyncio.sleep(LEASE * 1.5)
        worker.signal(signal.SIGCONT)
    else:
        await worker.kill()
        await worker.start()


async def strike_until(done: asyncio.Future[Any], workers: list[Worker], luck: random.Random) -> int:
    blows = 0
    while not done.done():
        await asyncio.wait([done], timeout=EVERY)
        if not done.done():
            await strike(luck.choice(workers), luck)
            blows += 1
    return blows


def keys_by_task(ledger: Path) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for line in ledger.read_text().splitlines():
        number, key, *_ = line.split()
        found.setdefault(int(number), set()).add(key)
    return found


@pytest.mark.chance
@pytest.mark.timeout(900)
async def test_killed_and_frozen_workers_lose_and_double_nothing(database: str, ledger: Path):
    luck = random.Random(f"{database} {TASKS}")
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(database))
        served.engine.code.registry.add(crowd)
        client = await stack.enter_async_context(Client(served.url))
        source = database if database.startswith("postgres") else served.url
        workers = await stack.enter_async_context(crew(served.url, source, ledger))
        run = await client.start("crowd", TASKS, id="crowd")
        done = asyncio.ensure_future(run.result())
        blows = await strike_until(done, workers, luck)
        assert await done == sum(range(TASKS))
        events = await run.events()
    closed = [event.data["at"] for event in events if event.type == "op.closed"]
    assert sorted(closed) == sorted(f"e{n}" for n in range(TASKS)), "each result once"
    keys = keys_by_task(ledger)
    assert set(keys) == set(range(TASKS)), "none lost"
    assert all(found == {f"crowd:e{n}:0"} for n, found in keys.items())
    assert blows, "nobody was struck: give it more tasks"
