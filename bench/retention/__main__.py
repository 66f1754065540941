"""``python -m bench.retention``: a database that keeps one day of history, for a month.

python -m bench.retention                      # 30 days of 1,000 runs, on SQLite and PostgreSQL
python -m bench.retention --runs 100 --days 12 # quick
python -m bench.retention --tables             # by table
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.postgres import databases
from bench.retention.day import DEFINITIONS, MovingClock, Work, prepare, spend_day
from bench.retention.sizes import Place, PostgresPlace, Size, Sizes, SqlitePlace, total
from bench.targets import RETENTION_GROWTH
from plait import Engine

WEEK = 7


async def month(place: Place, days: int, work: Work) -> list[Sizes]:
    """Sizes at the end of each day."""
    clock = MovingClock()
    found: list[Sizes] = []
    async with Engine(place.url, definitions=DEFINITIONS, clock=clock) as engine:
        await prepare(engine)
        for day in range(days):
            await spend_day(engine, clock, day, work, place.passed)
            await place.tidy()
            found.append(await place.sizes())
    return found


def growth(sizes: Sequence[int]) -> float:
    """Of the last week over the second."""
    week = min(WEEK, len(sizes) // 3)
    return _mean(sizes[-week:]) / _mean(sizes[week : 2 * week])


def _mean(sizes: Sequence[int]) -> float:
    return max(1.0, sum(sizes) / len(sizes))


async def _run(days: int, work: Work, places: list[str]) -> dict[str, list[Sizes]]:
    found: dict[str, list[Sizes]] = {}
    if "sqlite" in places:
        with tempfile.TemporaryDirectory(prefix="plait-retention-") as folder:
            found["sqlite"] = await month(SqlitePlace(Path(folder)), days, work)
    if "postgres" in places:
        async with databases() as server, server.fresh() as url:
            found["postgres"] = await month(PostgresPlace(url), days, work)
    return found


def show(found: dict[str, list[Sizes]], days: int, work: Work, *, tables: bool) -> bool:
    table = Table(title=f"{days} days of {work.runs:,} runs, of which one is kept")
    for title in ("store", "table", "rows at last", "second week", "last week", "growth", "limit", ""):
        table.add_column(title, justify="left" if title in ("store", "table") else "right")
    flat = True
    for place, sizes in found.items():
        for name in sorted(sizes[-1]) if tables else ():
            _add(table, place, name, [day.get(name, Size(0, 0)) for day in sizes])
        whole = [Size(sum(size.rows for size in day.values()), total(day)) for day in sizes]
        flat &= _add(table, place, "all", whole, judged=True)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return flat


def _add(table: Table, place: str, name: str, sizes: list[Size], *, judged: bool = False) -> bool:
    found = [size.bytes for size in sizes]
    week = min(WEEK, len(found) // 3)
    grown = growth(found)
    table.add_row(
        place,
        name,
        f"{sizes[-1].rows:,}",
        f"{_mean(found[week : 2 * week]) / 1e6:,.2f} MB",
        f"{_mean(found[-week:]) / 1e6:,.2f} MB",
        f"{grown:.2f} ×",
        f"{RETENTION_GROWTH.text} ×" if judged else "",
        RETENTION_GROWTH.verdict(grown) if judged else "",
    )
    return RETENTION_GROWTH.met(grown)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.retention", description="A month of work in a database that keeps a day."
    )
    parser.add_argument("--runs", type=int, default=1_000, help="runs a day (default: 1,000)")
    parser.add_argument("--days", type=int, default=30, help="days (default: 30)")
    parser.add_argument("--store", choices=["sqlite", "postgres"], action="append", help="only this one")
    parser.add_argument("--tables", action="store_true", help="show each table")
    options = parser.parse_args()
    work = Work(options.runs)
    found = asyncio.run(_run(options.days, work, options.store or ["sqlite", "postgres"]))
    return 0 if show(found, options.days, work, tables=options.tables) else 1


if __name__ == "__main__":
    sys.exit(main())
