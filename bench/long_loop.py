"""``python -m bench.long_loop``: one run whose loop has two million events, on SQLite.

Prints as it goes how fast it is, and how large process and database are; and how long it takes to load the run, as an
engine must that takes it over. None of them may grow with the number of events.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
import time
from pathlib import Path

from plait import Context, Engine, Loop, step, workflow
from plait.kernel.ids import Epoch, RunId

EVENTS = 2_000_000
WIDTH = 20
"""Steps at once: commits are not what is measured here."""
EVENTS_A_ROUND = 2 * WIDTH + 0.1
"""Two of each step, and the loop's own now and then."""
REPORTS = 10
LINE = "{:>12} {:>12} {:>12} {:>14} {:>10}"
_RUN = RunId("long")


@step
async def work(number: int) -> int:
    return number + 1


@workflow
async def count(ctx: Context, until: int) -> int:
    async def body(c: Context, number: int) -> Loop:
        if number >= until:
            return Loop.break_(number)
        done = await asyncio.gather(*(c.step(f"work:{n}", work, number) for n in range(WIDTH)))
        return Loop.continue_(done[0])

    return await ctx.loop("loop", body, state=0)


async def measure(events: int, folder: Path) -> None:
    database = folder / "plait.db"
    async with Engine(f"sqlite:///{database}", definitions=[count]) as engine:
        handle = await engine.start(count, round(events / EVENTS_A_ROUND), id=_RUN)
        result = asyncio.create_task(handle.result())
        began, due = time.perf_counter(), 0
        while not result.done():
            await asyncio.wait([result], timeout=0.5)
            last = (await engine.kernel.store.heads([_RUN])).get(_RUN, 0)
            if last < due and not result.done():
                continue
            due += events // REPORTS
            rate = last / (time.perf_counter() - began)
            sizes = _memory() / 2**20, _stored(folder) / 2**20, await _load(engine) * 1000
            cells = f"{last:,}", f"{rate:,.0f}", *(f"{size:.1f}" for size in sizes)
            print(LINE.format(*cells), flush=True)
        await result


async def _load(engine: Engine) -> float:
    row = await engine.kernel.store.run(_RUN)
    if row is None:
        raise RuntimeError("the run is gone")
    began = time.perf_counter()
    await engine.kernel.loader.load(row, Epoch(0))
    return time.perf_counter() - began


def _stored(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def _memory() -> int:
    """The most that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.long_loop", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    events: int = parser.parse_args().events
    print(LINE.format("events", "events/s", "memory MiB", "database MiB", "load ms"))
    with tempfile.TemporaryDirectory(prefix="plait-loop-") as folder:
        asyncio.run(measure(events, Path(folder)))


if __name__ == "__main__":
    main()
