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
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.api.server import free_port
from bench.postgres import databases
from bench.remote.processes import server, workers
from bench.targets import Limit
from plait import Engine
from plait.client.client import Client
from plait.client.queues import RemoteQueues
from plait.engine.queues import Queues
from plait.kernel.store import RunFilter

IDLE_SECONDS = 5.0
WORKERS = 4
RATE, IDLE, WRONG = Limit("at least", 1_000), Limit("at most", 1), Limit("at most", 0)
"""Tasks a second, the percentage of a core that a worker without tasks costs, and results that are lost or doubled."""


@dataclass(frozen=True)
class Place:
    name: str
    url: str
    """Of the server."""
    source: str
    """Where workers get their tasks."""
    claim_limit: Limit
    """Milliseconds."""


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
    claim_limit: Limit
    claim_ms: float
    """Median, from asking for a task that is there until its result is durable."""
    p50_ms: float
    p99_ms: float
    """From the decision that opens a step to the one that has its result: the claim, and two commits of the run."""
    tasks_per_s: float
    wrong: int
    """Of those tasks, how many have no result, or more than one."""
    idle: float
    w1_remote: float
    w1_local: float

    @property
    def met(self) -> bool:
        judged = ((self.claim_limit, self.claim_ms), (RATE, self.tasks_per_s), (WRONG, self.wrong), (IDLE, self.idle))
        return all(limit.met(value) for limit, value in judged)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.remote", description="Tasks on a queue, done by worker processes."
    )
    parser.add_argument("--quick", action="store_true", help="fewer tasks")
    parser.add_argument("--place", choices=["sqlite", "postgres"], help="only there")
    options = parser.parse_args()
    sizes = Sizes(100, 1_000, 20) if options.quick else Sizes(500, 5_000, 100)
    found = asyncio.run(_measure(sizes, options.place))
    show(found)
    return 0 if all(each.met for each in found) else 1


async def _measure(sizes: Sizes, place: str | None) -> list[Figures]:
    found: list[Figures] = []
    with tempfile.TemporaryDirectory(prefix="plait-bench-remote-") as folder:
        if place in (None, "sqlite"):
            async with _opened(f"sqlite:///{folder}/plait.db", Path(folder)) as url:
                where = Place("SQLite, through the server", url, url, Limit("at most", 5))
                found.append(await _figures(where, sizes, Path(folder)))
        if place in (None, "postgres"):
            async with databases() as servers, servers.fresh() as db, _opened(db, Path(folder)) as url:
                where = Place("PostgreSQL, directly", url, db, Limit("at most", 3))
                found.append(await _figures(where, sizes, Path(folder)))
    return found


@contextlib.asynccontextmanager
async def _opened(db: str, folder: Path) -> AsyncGenerator[str]:
    port = free_port()
    with (folder / "server.log").open("ab") as log:
        async with server(db, port, log):
            yield f"http://127.0.0.1:{port}"


async def _figures(place: Place, sizes: Sizes, folder: Path) -> Figures:
    with (folder / "workers.log").open("ab") as log:
        async with Client(place.url) as client:
            claims = await _claims(client, place, sizes.alone)
            async with workers(place.source, 1, log) as [one]:
                await (await client.start("chain", 10)).result()
                latencies = await _latencies(client, sizes.alone)
                spent = one.cpu()
                await asyncio.sleep(IDLE_SECONDS)
                idle = 100 * (one.cpu() - spent) / IDLE_SECONDS
            async with workers(place.source, WORKERS, log):
                rate, wrong = await _rate(client, sizes.together)
                remote = await _w1(client, "chain", sizes.runs)
            local = await _w1(client, "local_chain", sizes.runs)
    return Figures(
        place.name,
        place.claim_limit,
        statistics.median(claims),
        statistics.median(latencies),
        statistics.quantiles(latencies, n=100)[98],
        rate,
        wrong,
        idle,
        remote,
        local,
    )


async def _claims(client: Client, place: Place, tasks: int) -> list[float]:
    """Milliseconds from asking for a task that is there until its result is durable, one after the other."""
    run = await client.start("fan", tasks)
    if place.source == place.url:
        found = await _claim_each(client.queues, tasks)
    else:
        async with Engine(place.source, work=False) as engine:
            found = await _claim_each(engine.queues, tasks)
    assert await run.result() == tasks
    return found


async def _claim_each(queues: Queues | RemoteQueues, tasks: int) -> list[float]:
    found: list[float] = []
    for _ in range(tasks):
        began = time.perf_counter()
        [task] = await queues.claim("bench", ["bench"], wait_ms=10_000)
        await queues.complete(task.id, 1)
        found.append((time.perf_counter() - began) * 1000)
    return found


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


async def _rate(client: Client, tasks: int) -> tuple[float, int]:
    began = time.perf_counter()
    run = await client.start("fan", tasks)
    total = await run.result()
    seconds = time.perf_counter() - began
    closed = Counter(event.data["at"] for event in await run.events() if event.type == "op.closed")
    wrong = sum(closed[f"s{n}"] != 1 for n in range(tasks))
    return tasks / seconds, wrong + abs(total - tasks)


async def _w1(client: Client, definition: str, runs: int) -> float:
    """Steps a second, of many runs of ten steps at once."""
    began = time.perf_counter()
    await asyncio.gather(*(client.start(definition, 10) for _ in range(runs)))
    while await client.runs(RunFilter(status="running", limit=1)):
        await asyncio.sleep(0.02)
    return runs * 10 / (time.perf_counter() - began)


def show(found: list[Figures]) -> None:
    table = Table(title="Remote workers")
    table.add_column("")
    for each in found:
        table.add_column(each.place, justify="right")
    rows: list[tuple[str, Callable[[Figures], str]]] = [
        ("claim to completion, p50", lambda f: _beside(f"{f.claim_ms:.1f} ms", f.claim_limit, f.claim_ms)),
        (f"tasks/s, {WORKERS} workers", lambda f: _beside(f"{f.tasks_per_s:,.0f}", RATE, f.tasks_per_s)),
        ("of these, lost or doubled", lambda f: _beside(f"{f.wrong}", WRONG, f.wrong)),
        ("idle worker, % of a core", lambda f: _beside(f"{f.idle:.2f}", IDLE, f.idle)),
        ("step through a worker process, p50", lambda f: f"{f.p50_ms:.1f} ms"),
        ("step through a worker process, p99", lambda f: f"{f.p99_ms:.1f} ms"),
        ("W1 remote", lambda f: f"{f.w1_remote:,.0f} steps/s"),
        ("W1 local", lambda f: f"{f.w1_local:,.0f} steps/s"),
    ]
    for name, cell in rows:
        table.add_row(name, *(cell(each) for each in found))
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def _beside(figure: str, limit: Limit, value: float) -> str:
    return f"{figure} (limit {limit.text}: {limit.verdict(value)})"


if __name__ == "__main__":
    sys.exit(main())
