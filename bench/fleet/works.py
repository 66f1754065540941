"""What a fleet does: W1, W3 and W4 with the runs of all engines together, whatever their number.

Each engine has callers of its own, who start runs and wait for them. In W4 each brings its share of runs to the same
step; all engines are killed at once, and as many are started again. They share the shards anew, as after any crash: no
engine is told which runs to take up. It ends with the last run.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import asyncpg

from bench.fleet.engine_process import HELD_AFTER, HELD_BEFORE
from bench.fleet.members import Member, fleet
from bench.fleet.processor_time import Meter, Spent, meter

_AT_ONCE = 400
"""Runs of W1 and W3."""
_LOOK = 0.1
_PATIENCE = 300.0
"""Seconds."""


@dataclass(frozen=True)
class Work:
    name: str
    steps: int
    runs: int
    unit: str

    @property
    def amount(self) -> int:
        return self.runs if self.unit == "runs/s" else self.runs * self.steps


@dataclass(frozen=True)
class Figures:
    rate: float
    engines: float
    """Microseconds of the processor's time, for each step or run."""
    server: float
    """The same of PostgreSQL; 0 where it is elsewhere."""

    @property
    def most(self) -> float:
        """What twice the engines could gain at most where one keeps a core busy and there are two for all."""
        return 2 / (1 + self.server / self.engines)


def works(*, quick: bool) -> list[Work]:
    few = 4 if quick else 1
    return [
        Work("W1", 10, 2_000 // few, "steps/s"),
        Work("W3", 1, 6_000 // few, "runs/s"),
        Work("W4", HELD_BEFORE + 1 + HELD_AFTER, 8_000 // few, "runs/s"),
    ]


async def measure(url: str, count: int, found: list[Work]) -> dict[str, Figures]:
    """Each work, with so many processes."""
    figures: dict[str, Figures] = {}
    scale = await meter(url)
    async with fleet(url, count) as members:
        for work in found:
            if work.name != "W4":
                await _do(members, work.runs // 10, work.steps)  # plans, caches and connections are there
                figures[work.name] = await _measured(members, work, scale)
    for work in found:
        if work.name == "W4":
            figures[work.name] = await _crash(url, count, work, scale)
    return figures


async def _measured(members: list[Member], work: Work, scale: Meter) -> Figures:
    pids = [member.pid for member in members]
    before, began = scale.spent(pids), time.perf_counter()
    await _do(members, work.runs, work.steps)
    return _figures(work, time.perf_counter() - began, scale.spent(pids) - before)


async def _do(members: list[Member], runs: int, steps: int) -> None:
    share = len(members)
    await asyncio.gather(
        *(member.does(runs=runs // share, steps=steps, at_once=_AT_ONCE // share) for member in members)
    )


async def _crash(url: str, count: int, work: Work, scale: Meter) -> Figures:
    async with fleet(url, count) as members:
        await asyncio.gather(*(member.does(hold=work.runs // count) for member in members))
        await asyncio.gather(*(member.kill() for member in members))
    before, began = scale.spent(()), time.time()
    async with fleet(url, count) as members:
        last = await _last_end(url)
        return _figures(work, last - began, scale.spent([member.pid for member in members]) - before)


async def _last_end(url: str) -> float:
    """When all held runs have ended: the moment of the last."""
    connection = await asyncpg.connect(url)
    try:
        async with asyncio.timeout(_PATIENCE):
            while await connection.fetchval(
                "select exists (select from plait.runs where definition = 'held' and status = 'running')"
            ):
                await asyncio.sleep(_LOOK)
        wrong = "select count(*) from plait.runs where definition = 'held' and output is distinct from $1"
        if await connection.fetchval(wrong, str(HELD_BEFORE + HELD_AFTER)):
            raise RuntimeError("a run was not finished")
        return await connection.fetchval("select max(ended_at) from plait.runs where definition = 'held'") / 1000
    finally:
        await connection.close()


def _figures(work: Work, seconds: float, spent: Spent) -> Figures:
    return Figures(work.amount / seconds, spent.engines / work.amount * 1e6, spent.server / work.amount * 1e6)
