"""``python -m bench.years``: W1, W3, lists and searches beside ten million ended runs, and beside a thousand.

python -m bench.years                          # fills a PostgreSQL database: a quarter of an hour, 25 GB on disk
python -m bench.years --runs 200000            # quick
python -m bench.years --keep                   # the database stays, for another look
python -m bench.years --database postgresql://… --runs 10000000     # at one that is filled

A neighbour on the machine changes how long something takes, and not how much the processors do for it. So that is
judged where the server is on this machine: of the server and of the engine together for works, of the server for a list
or a search. The clock's time is shown beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from bench.postgres import Databases, databases
from bench.targets import LIST_LIMITS, UPKEEP_LIMIT, YEARS_GROWTH, Limit
from bench.years.filling import fill
from bench.years.measuring import W1_RUNS, W1_STEPS, W3_RUNS, Database, Taken

RUNS = 10_000_000
FEW = 1_000
ROUNDS = 5
WORKS = {"W1: a thousand steps": (W1_RUNS, W1_STEPS), "W3: a thousand runs": (W3_RUNS, 1)}


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    few: Taken
    many: Taken
    value: float
    limit: Limit
    unit: str

    @property
    def met(self) -> bool:
        return self.limit.met(self.value)


async def compare(few: Database, many: Database) -> list[Figure]:
    found = [Figure("an engine starts", _started(few), _started(many), many.started, UPKEEP_LIMIT, "ms")]
    other = many.calls()
    for name, call in few.calls().items():
        taken = await few.asked(call), await many.asked(other[name])
        judged = taken[1].wall if taken[1].server is None else taken[1].server
        found.append(_told(Figure(name, *taken, judged, _limit(name), "ms")))
    for name, size in WORKS.items():
        found.append(_told(await _work(name, few, many, *size)))
    return found


def _told(figure: Figure) -> Figure:
    """While the others are measured."""
    print(f"{figure.name}: {_text(figure.few)}, {_text(figure.many)}", file=sys.stderr, flush=True)
    return figure


def _limit(name: str) -> Limit:
    kind = name.partition(":")[0]
    return Limit("at most", LIST_LIMITS[kind]) if kind in LIST_LIMITS else UPKEEP_LIMIT


def _started(database: Database) -> Taken:
    return Taken(database.started, None)


async def _work(name: str, few: Database, many: Database, runs: int, steps: int) -> Figure:
    """Rounds take turns, and the first warms up."""
    found: list[tuple[Taken, Taken]] = []
    for _ in range(ROUNDS + 1):
        found.append((await few.work(runs, steps), await many.work(runs, steps)))
    ours, theirs = (_median([each[side] for each in found[1:]]) for side in (0, 1))
    growth = (theirs.work or theirs.wall) / (ours.work or ours.wall)
    return Figure(name, ours, theirs, growth, YEARS_GROWTH, "×")


def _median(found: list[Taken]) -> Taken:
    server = [each.server for each in found if each.server is not None]
    return Taken(
        statistics.median(each.wall for each in found),
        statistics.median(server) if server else None,
        statistics.median(each.own for each in found),
    )


def show(found: list[Figure], runs: int) -> None:
    table = Table(title=f"Beside {FEW:,} runs, and beside {runs:,}: milliseconds by the clock (of the processors)")
    for title in ("what", f"{FEW:,}", f"{runs:,}", "growth or time", "limit", ""):
        table.add_column(title, justify="left" if title == "what" else "right")
    for each in found:
        value = f"{each.value:,.2f} {each.unit}" if each.unit == "×" else f"{each.value:,.1f} {each.unit}"
        limit = f"{each.limit.text} {each.unit}"
        table.add_row(each.name, _text(each.few), _text(each.many), value, limit, each.limit.verdict(each.value))
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def _text(taken: Taken) -> str:
    return f"{taken.wall:,.1f}" + ("" if taken.work is None else f" ({taken.work:,.1f})")


@asynccontextmanager
async def _filled(server: Databases, runs: int, *, keep: bool) -> AsyncGenerator[str]:
    async with server.fresh(keep=keep) as url:
        began = time.perf_counter()
        await fill(url, runs)
        print(f"{runs:,} runs in {time.perf_counter() - began:,.0f} s: {url}", file=sys.stderr)
        yield url


async def _run(runs: int, given: str | None, *, keep: bool) -> list[Figure]:
    async with databases() as server, _filled(server, FEW, keep=False) as small:
        if given is not None:
            return await _compared(small, given, runs)
        async with _filled(server, runs, keep=keep) as url:
            return await _compared(small, url, runs)


async def _compared(small: str, large: str, runs: int) -> list[Figure]:
    async with Database(small, FEW) as few, Database(large, runs) as many:
        return await compare(few, many)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.years", description="Beside ten million ended runs.")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs in the database (default: {RUNS:,})")
    parser.add_argument("--database", metavar="URL", help="one that was filled before")
    parser.add_argument("--keep", action="store_true", help="leave the database there")
    options = parser.parse_args()
    found = asyncio.run(_run(options.runs, options.database, keep=options.keep))
    show(found, options.runs)
    return 0 if all(each.met for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
