"""``python -m bench.fleet``: what a second engine process on the same PostgreSQL adds.

python -m bench.fleet                     # W1 and W3 with one and two processes, three rounds
python -m bench.fleet --quick --processes 1 2 3
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from bench.api.server import ends_with_us
from bench.postgres import databases
from bench.targets import Limit

GAIN = Limit("at least", 1.6)
"""Of two processes over one, where PostgreSQL and both have a core each."""
_AT_ONCE = 400
"""Runs, in all processes together."""


@dataclass(frozen=True)
class Work:
    name: str
    steps: int
    runs: int
    unit: str

    def rate(self, seconds: float) -> float:
        done = self.runs if self.unit == "runs/s" else self.runs * self.steps
        return done / seconds


def works(*, quick: bool) -> list[Work]:
    few = 4 if quick else 1
    return [Work("W1", 10, 2_000 // few, "steps/s"), Work("W3", 1, 6_000 // few, "runs/s")]


class Member:
    """A process of the fleet."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def hears(self) -> dict[str, float]:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError("an engine ended")
        return json.loads(line)

    async def does(self, runs: int, steps: int, at_once: int) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"runs": runs, "steps": steps, "at_once": at_once}).encode() + b"\n")
        await self.hears()

    async def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()


@contextlib.asynccontextmanager
async def fleet(url: str, count: int) -> AsyncGenerator[list[Member]]:
    members: list[Member] = []
    try:
        for _ in range(count):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bench.fleet.engine_process", url, str(count)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                preexec_fn=ends_with_us,
            )
            members.append(Member(process))
        await asyncio.gather(*(member.hears() for member in members))
        yield members
    finally:
        await asyncio.gather(*(member.stop() for member in members))


async def measure(url: str, count: int, found: list[Work]) -> dict[str, float]:
    """The rate of each work, with so many processes."""
    rates: dict[str, float] = {}
    async with fleet(url, count) as members:
        for work in found:
            await _do(members, work.runs // 10, work.steps)  # plans, caches and connections are there
            began = time.perf_counter()
            await _do(members, work.runs, work.steps)
            rates[work.name] = work.rate(time.perf_counter() - began)
    return rates


async def _do(members: list[Member], runs: int, steps: int) -> None:
    share = len(members)
    await asyncio.gather(*(member.does(runs // share, steps, _AT_ONCE // share) for member in members))


async def run(counts: list[int], rounds: int, *, quick: bool) -> dict[int, dict[str, float]]:
    """By number of processes: the medians."""
    found: dict[int, list[dict[str, float]]] = {count: [] for count in counts}
    async with databases() as servers:
        for _ in range(rounds):
            for count in counts:
                async with servers.fresh() as url:
                    found[count].append(await measure(url, count, works(quick=quick)))
    return {
        count: {name: statistics.median(each[name] for each in rates) for name in rates[0]}
        for count, rates in found.items()
    }


def show(found: dict[int, dict[str, float]], *, quick: bool) -> bool:
    """Whether the limit is reached, if one and two were measured."""
    table = Table(title=f"A fleet on PostgreSQL, {os.cpu_count()} cores for all of it")
    engines = ["1 engine" if count == 1 else f"{count} engines" for count in found]
    for name in ("work", *engines, "gain of 2", "limit", ""):
        table.add_column(name, justify="left" if name == "work" else "right")
    met = True
    for work in works(quick=quick):
        rates = [f"{found[count][work.name]:,.0f} {work.unit}" for count in found]
        judged = ("", "", "")
        if {1, 2} <= found.keys():
            gain = found[2][work.name] / found[1][work.name]
            met &= GAIN.met(gain)
            judged = (f"{gain:.2f} ×", f"{GAIN.text} ×", GAIN.verdict(gain))
        table.add_row(work.name, *rates, *judged)
    Console().print(table)
    return met


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description="Engines that share one PostgreSQL.")
    parser.add_argument("--quick", action="store_true", help="a quarter of the runs, one round")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2], metavar="N")
    options = parser.parse_args()
    found = asyncio.run(run(options.processes, 1 if options.quick else 3, quick=options.quick))
    return 0 if show(found, quick=options.quick) else 1


if __name__ == "__main__":
    sys.exit(main())
