"""``python -m bench.lists``: lists and searches in a large database, and W1 beside one live list.

python -m bench.lists                    # 1,000,000 runs on SQLite and PostgreSQL; most of the time is filling
python -m bench.lists --runs 20000       # quick
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.lists.filling import FIRST, fill_postgres, fill_sqlite
from bench.postgres import databases
from bench.subjects.plait_engine import sequential
from bench.targets import LIST_LIMITS
from plait import Engine
from plait.kernel.store import RunFilter

RUNS = 1_000_000
SAMPLES = 20
W1_RUNS = 300


@dataclass(frozen=True, slots=True)
class Figure:
    place: str
    name: str
    value: float
    unit: str
    limit: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def queries(runs: int) -> dict[str, dict[str, Any]]:
    return {
        "list: newest": {},
        "list: failed": {"status": "failed"},
        "list: one definition": {"definition": "definition_4"},
        "list: a definition that never failed, failed": {"definition": "definition_4", "status": "failed"},
        "list: a label that few have": {"labels": {"customer": "customer-77"}},
        "list: a label that all have, running": {"labels": {"env": "prod"}, "status": "running"},
        "list: a second of long ago": {"since": FIRST + runs // 2, "until": FIRST + runs // 2 + 1000},
        "search: one run": {"text": f"order-{runs // 2 + 1}"},
        "search: nothing": {"text": "no such thing"},
        "search: what all have": {"text": "customer"},
        "search: an error": {"text": "declined by bank 3"},
        "search: failed, and a text that no new run has": {"text": "order-1", "status": "failed"},
    }


async def measure(place: str, url: str, runs: int) -> list[Figure]:
    async with Engine(url, definitions=[sequential]) as engine:
        found = [await _latency(engine, place, name, query) for name, query in queries(runs).items()]
        return [*found, await _beside_a_live_list(engine, place)]


async def _latency(engine: Engine, place: str, name: str, query: dict[str, Any]) -> Figure:
    taken: list[float] = []
    for _ in range(SAMPLES):
        began = time.perf_counter()
        await engine.runs(RunFilter(namespace="default", limit=51, **query))
        taken.append((time.perf_counter() - began) * 1000)
    kind = name.partition(":")[0]
    return Figure(place, name, statistics.median(taken), "ms", LIST_LIMITS[kind])


async def _beside_a_live_list(engine: Engine, place: str) -> Figure:
    """The share of W1 that is left while somebody watches the newest runs; rounds take turns."""
    alone: list[float] = []
    watched: list[float] = []
    for _ in range(3):
        alone.append(await _w1(engine))
        watcher = asyncio.create_task(_watch(engine))
        watched.append(await _w1(engine))
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)
    share = statistics.median(watched) / statistics.median(alone)
    name = f"W1 beside one live list ({statistics.median(watched):,.0f} steps/s)"
    return Figure(place, name, share * 100, "% of W1", LIST_LIMITS["live"], at_least=True)


async def _watch(engine: Engine) -> None:
    async for _ in engine.follow_runs(RunFilter(namespace="default", limit=50)):
        pass


async def _w1(engine: Engine) -> float:
    began = time.perf_counter()
    handles = await asyncio.gather(*(engine.start(sequential, 10) for _ in range(W1_RUNS)))
    await asyncio.gather(*(handle.result() for handle in handles))
    return W1_RUNS * 10 / (time.perf_counter() - began)


async def _run(runs: int, places: list[str]) -> list[Figure]:
    found: list[Figure] = []
    if "sqlite" in places:
        with tempfile.TemporaryDirectory(prefix="plait-lists-") as folder:
            path = Path(folder) / "plait.db"
            await fill_sqlite(str(path), runs)
            found += await measure("sqlite", f"sqlite:///{path}", runs)
    if "postgres" in places:
        async with databases() as server, server.fresh() as url:
            await fill_postgres(url, runs)
            found += await measure("postgres", url, runs)
    return found


def show(found: list[Figure], runs: int) -> None:
    table = Table(title=f"Lists of {runs:,} runs")
    for title in ("store", "what", "median", "limit"):
        table.add_column(title, justify="left" if title in ("store", "what") else "right")
    for each in found:
        limit = f"{'≥' if each.at_least else '≤'} {each.limit:g} {'ok' if each.met else 'MISSED'}"
        table.add_row(each.place, each.name, f"{each.value:.1f} {each.unit}", limit)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.lists", description="Lists and searches in a large database."
    )
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs in the database (default: {RUNS:,})")
    parser.add_argument("--store", choices=["sqlite", "postgres"], action="append", help="only this one")
    options = parser.parse_args()
    found = asyncio.run(_run(options.runs, options.store or ["sqlite", "postgres"]))
    show(found, options.runs)
    return 0 if all(each.met for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
