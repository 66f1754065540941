"""``python -m bench.capacity``: bytes in a database, by table, of runs that really ran.

python -m bench.capacity                       # 2,000 runs of each kind, on SQLite and PostgreSQL
python -m bench.capacity --runs 500 --store postgres
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.postgres import databases
from bench.retention.sizes import Place, PostgresPlace, SqlitePlace
from bench.subjects.plait_engine import sequential, sleeping
from plait import Engine
from plait.kernel.store import RunFilter

RUNS = 2_000
AT_ONCE = 64
Start = tuple[Any, Any, dict[str, Any]]
"""What is started, with which input and options."""
Kind = Callable[[int], Start]

KINDS: Mapping[str, Kind] = {
    "a run of one step": lambda n: (sequential, 1, {}),
    "a run of eleven steps": lambda n: (sequential, 11, {}),
    "one step, a chosen id": lambda n: (sequential, 1, {"id": f"order-{n:08}"}),
    "one step, two labels": lambda n: (sequential, 1, {"labels": {"env": "prod", "customer": f"customer-{n % 500}"}}),
    "a run that sleeps": lambda n: (sleeping, None, {}),
}
Bytes = Mapping[str, float]
"""By table, of one run."""


async def measure(place: Place, kind: Kind, runs: int) -> Bytes:
    async with Engine(place.url, definitions=[sequential, sleeping]) as engine:
        await _start(engine, kind, range(64))
    await place.tidy()
    before = await place.sizes()
    async with Engine(place.url, definitions=[sequential, sleeping]) as engine:
        await _start(engine, kind, range(64, 64 + runs))
        await engine.runs(RunFilter(text="no such text"))  # what is still to be indexed is, then
    await place.tidy()
    after = await place.sizes()
    return {name: (size.bytes - before[name].bytes) / runs for name, size in after.items() if name in before}


async def _start(engine: Engine, kind: Kind, numbers: range) -> None:
    left = iter(numbers)

    async def keep_one_going() -> None:
        for number in left:
            what, given, options = kind(number)
            handle = await (engine.start(what, **options) if given is None else engine.start(what, given, **options))
            if what is not sleeping:
                await handle.result()

    await asyncio.gather(*(keep_one_going() for _ in range(AT_ONCE)))


@asynccontextmanager
async def _sqlite() -> AsyncGenerator[Place]:
    with tempfile.TemporaryDirectory(prefix="plait-capacity-") as folder:
        yield SqlitePlace(Path(folder))


@asynccontextmanager
async def _postgres() -> AsyncGenerator[Place]:
    async with databases() as server, server.fresh() as url:
        yield PostgresPlace(url)


PLACES: Mapping[str, Callable[[], AbstractAsyncContextManager[Place]]] = {"sqlite": _sqlite, "postgres": _postgres}


async def _run(runs: int, places: list[str]) -> dict[str, dict[str, Bytes]]:
    found: dict[str, dict[str, Bytes]] = {}
    for name in places:
        found[name] = {}
        for kind, start in KINDS.items():
            async with PLACES[name]() as place:
                found[name][kind] = await measure(place, start, runs)
    return found


def show(name: str, found: dict[str, Bytes]) -> None:
    table = Table(title=f"Bytes of a run with its indexes, {name}")
    table.add_column("table")
    for kind in found:
        table.add_column(kind, justify="right")
    rows = sorted({table for sizes in found.values() for table, size in sizes.items() if size >= 1})
    for row in rows:
        table.add_row(row, *(f"{sizes.get(row, 0):,.0f}" for sizes in found.values()))
    table.add_row("all", *(f"{sum(sizes.values()):,.0f}" for sizes in found.values()), style="bold")
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.capacity", description="Bytes in a database, by table.")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of each kind (default: {RUNS:,})")
    parser.add_argument("--store", choices=list(PLACES), action="append", help="only this one")
    options = parser.parse_args()
    for name, found in asyncio.run(_run(options.runs, options.store or list(PLACES))).items():
        show(name, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
