"""``python -m bench.written``: bytes that a step of W1 writes, on an empty database and beside runs that have ended.

python -m bench.written                    # 500,000 runs that have ended, on SQLite and PostgreSQL
python -m bench.written --quick            # 20,000 of them
python -m bench.written --place sqlite
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.postgres import databases
from bench.runner import DATA
from bench.targets import WRITTEN_GROWTH
from bench.written.databases import Database, Ids, Postgres, Sqlite
from plait import Context, Engine, step, workflow

STEPS = 10
IN_FLIGHT = 64
ORDERS: tuple[Ids, ...] = ("ordered", "random")


@dataclass(frozen=True)
class Sizes:
    ended: int
    """Runs that are there already."""
    runs: int
    """Runs that are measured, each time."""


@dataclass(frozen=True)
class Figures:
    place: str
    empty: float
    """Bytes a step."""
    full: float
    """The same, beside the runs that have ended."""
    ids: Ids

    @property
    def growth(self) -> float:
        return self.full / self.empty


@step
async def number(i: int) -> int:
    return i


@workflow
async def ten(ctx: Context) -> int:
    return sum([await ctx.step(f"s{i}", number, i) for i in range(STEPS)])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.written", description="Bytes that a step writes.")
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    parser.add_argument("--place", choices=["sqlite", "postgres"], help="only there")
    options = parser.parse_args()
    sizes = Sizes(20_000, 500) if options.quick else Sizes(500_000, 2_000)
    show(asyncio.run(_measure(sizes, options.place)), sizes)
    return 0


async def _measure(sizes: Sizes, place: str | None) -> list[Figures]:
    found: list[Figures] = []
    DATA.mkdir(exist_ok=True)
    for ids in ORDERS:
        if place in (None, "sqlite"):
            with tempfile.TemporaryDirectory(dir=DATA) as folder:
                found.append(await _figures("SQLite", Sqlite(Path(folder)), ids, sizes))
        if place in (None, "postgres"):
            async with databases() as servers, servers.fresh() as url:
                found.append(await _figures("PostgreSQL", Postgres(url), ids, sizes))
    return found


async def _figures(place: str, database: Database, ids: Ids, sizes: Sizes) -> Figures:
    async with Engine(database.url, definitions=[ten]) as engine:
        await _runs(engine, ids, 1)
    empty = await _bytes_a_step(database, ids, sizes.runs)
    await database.fill(sizes.ended, ids)
    return Figures(place, empty, await _bytes_a_step(database, ids, sizes.runs), ids)


async def _bytes_a_step(database: Database, ids: Ids, runs: int) -> float:
    async with Engine(database.url, definitions=[ten]) as engine:
        before = await database.written()
        await _runs(engine, ids, runs)
        return (await database.written() - before) / (runs * STEPS)


async def _runs(engine: Engine, ids: Ids, count: int) -> None:
    """With some in flight at any moment."""
    numbers = iter(range(count))

    async def keep_one_in_flight() -> None:
        for _ in numbers:
            handle = await engine.start(ten, id=None if ids == "ordered" else uuid.uuid4().hex)
            assert await handle.result() == sum(range(STEPS))

    await asyncio.gather(*(keep_one_in_flight() for _ in range(min(IN_FLIGHT, count))))


def show(found: list[Figures], sizes: Sizes) -> None:
    table = Table(title="Bytes that a step writes")
    for name in ("", "ids", "empty database", f"beside {sizes.ended:,} ended runs", "growth", "target", ""):
        table.add_column(name, justify="right" if name else "left")
    for each in found:
        target = (
            WRITTEN_GROWTH if each.ids == "ordered" else None
        )  # a random id is a page of the index of ids, once a run
        table.add_row(
            each.place,
            each.ids,
            f"{each.empty:,.0f}",
            f"{each.full:,.0f}",
            f"{each.growth:.2f} ×",
            f"{target.text} ×" if target else "–",
            target.verdict(each.growth) if target else "",
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    sys.exit(main())
