"""``python -m bench.remote``: tasks on a queue, done by worker processes of this machine.

python -m bench.remote                    # SQLite through a server, and PostgreSQL directly
python -m bench.remote --quick            # fewer tasks
python -m bench.remote --place sqlite
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.api.server import free_port
from bench.postgres import databases
from bench.remote.processes import server, workers
from plait.client.client import Client
from plait.kernel.store import RunFilter

IDLE_SECONDS = 5.0
WORKERS = 4


@dataclass(frozen=True)
class Sizes:
    alone: int
    """Steps of one run, one after the other."""
    together: int
    """Tasks at once."""
    runs: int
    """Of ten steps each."""


@dataclass(frozen=True)
class Figures:
    place: str
    p50_ms: float
    p99_ms: float
    tasks_per_s: float
    idle: float
    w1_remote: float
    w1_local: float


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.remote", description="Tasks on a queue, done by worker processes."
    )
    parser.add_argument("--quick", action="store_true", help="fewer tasks")
    parser.add_argument("--place", choices=["sqlite", "postgres"], help="only there")
    options = parser.parse_args()
    sizes = Sizes(100, 1_000, 20) if options.quick else Sizes(500, 5_000, 100)
    show(asyncio.run(_measure(sizes, options.place)))
    return 0


async def _measure(sizes: Sizes, place: str | None) -> list[Figures]:
    found: list[Figures] = []
    with tempfile.TemporaryDirectory(prefix="plait-bench-remote-") as folder:
        if place in (None, "sqlite"):
            async with _opened(f"sqlite:///{folder}/plait.db", Path(folder)) as url:
                found.append(await _figures("SQLite, through the server", url, url, sizes, Path(folder)))
        if place in (None, "postgres"):
            async with databases() as servers, servers.fresh() as db, _opened(db, Path(folder)) as url:
                found.append(await _figures("PostgreSQL, directly", url, db, sizes, Path(folder)))
    return found


@contextlib.asynccontextmanager
async def _opened(db: str, folder: Path) -> AsyncGenerator[str]:
    port = free_port()
    with (folder / "server.log").open("ab") as log:
        async with server(db, port, log):
            yield f"http://127.0.0.1:{port}"


async def _figures(place: str, url: str, source: str, sizes: Sizes, folder: Path) -> Figures:
    with (folder / "workers.log").open("ab") as log:
        async with Client(url) as client:
            async with workers(source, 1, log) as [one]:
                await (await client.start("chain", 10)).result()
                latencies = await _latencies(client, sizes.alone)
                spent = one.cpu()
                await asyncio.sleep(IDLE_SECONDS)
                idle = (one.cpu() - spent) / IDLE_SECONDS
            async with workers(source, WORKERS, log):
                rate = await _rate(client, sizes.together)
                remote = await _w1(client, "chain", sizes.runs)
            local = await _w1(client, "local_chain", sizes.runs)
    return Figures(
        place,
        statistics.median(latencies),
        statistics.quantiles(latencies, n=100)[98],
        rate,
        idle,
        remote,
        local,
    )


async def _latencies(client: Client, steps: int) -> list[float]:
    """Milliseconds from the decision that opens a step to the one that has its result."""
    run = await client.start("chain", steps)
    await run.result()
    opened: dict[str, int] = {}
    found: list[float] = []
    for event in await run.events():
        if event.type == "op.opened":
            opened[event.data["at"]] = event.at
        elif event.type == "op.closed":
            found.append(event.at - opened[event.data["at"]])
    return found


async def _rate(client: Client, tasks: int) -> float:
    began = time.perf_counter()
    run = await client.start("fan", tasks)
    assert await run.result() == tasks
    return tasks / (time.perf_counter() - began)


async def _w1(client: Client, definition: str, runs: int) -> float:
    """Steps a second, of many runs of ten steps at once."""
    began = time.perf_counter()
    await asyncio.gather(*(client.start(definition, 10) for _ in range(runs)))
    while await client.runs(RunFilter(status="running", limit=1)):
        await asyncio.sleep(0.02)
    return runs * 10 / (time.perf_counter() - began)


def show(found: list[Figures]) -> None:
    table = Table(title="Remote workers")
    for name in ("", "p50 ms", "p99 ms", f"tasks/s, {WORKERS} workers", "idle worker", "W1 remote", "W1 local"):
        table.add_column(name, justify="left" if not name else "right")
    for each in found:
        table.add_row(
            each.place,
            f"{each.p50_ms:.1f}",
            f"{each.p99_ms:.1f}",
            f"{each.tasks_per_s:,.0f}",
            f"{each.idle:.2%} of a core",
            f"{each.w1_remote:,.0f} steps/s",
            f"{each.w1_local:,.0f} steps/s",
        )
    Console(width=None if sys.stdout.isatty() else 140).print(table)


if __name__ == "__main__":
    sys.exit(main())
