"""``python -m bench.parked``: an engine beside a million runs that wait for a message or for their time.

python -m bench.parked                    # 1,000,000 runs on SQLite and PostgreSQL; most of the time is filling
python -m bench.parked --runs 20000       # quick
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.api.server import ends_with_us
from bench.figure_table import Figure
from bench.parked.filling import copy_id, fill_postgres, fill_sqlite
from bench.parked.flow import YEAR, parked
from bench.postgres import databases
from bench.targets import PARKED_LIMITS
from plait import Engine
from plait.kernel.ids import DEFAULT_NAMESPACE, run_key
from plait.kernel.store import RunFilter

RUNS = 1_000_000
FEW = 2_000
"""Beside so many the engine's memory is measured for comparison."""
TOLD = 400
TIMED = 100
_AHEAD, _APART = 30.0, 0.05
"""Seconds until the first timer is due, and between two."""
_PLACES = ("sqlite", "postgres")


@asynccontextmanager
async def filled(place: str, runs: int) -> AsyncGenerator[str]:
    """The url of a database with so many parked runs."""
    if place == "sqlite":
        with tempfile.TemporaryDirectory(prefix="plait-parked-") as folder:
            path = Path(folder) / "plait.db"
            url = f"sqlite:///{path}"
            await fill_sqlite(path, run_key(DEFAULT_NAMESPACE, await _start_one(url)), runs)
            yield url
    else:
        async with databases() as server, server.fresh() as url:
            await fill_postgres(url, run_key(DEFAULT_NAMESPACE, await _start_one(url)), runs)
            yield url


async def _start_one(url: str) -> str:
    async with Engine(url, definitions=[parked]) as engine:
        handle = await engine.start(parked, YEAR, id="model")
        await _until_parked(engine, ["model"])
        return handle.id


async def _start_timed(url: str) -> list[str]:
    """Runs that are due soon: really started, and then left on disk."""
    ids = [f"timed-{number}" for number in range(TIMED)]
    async with Engine(url, definitions=[parked]) as engine:
        starts = (engine.start(parked, _AHEAD + number * _APART, id=id) for number, id in enumerate(ids))
        await asyncio.gather(*starts)
        await _until_parked(engine, ids)
    return ids


async def _until_parked(engine: Engine, ids: list[str]) -> None:
    for id in ids:
        handle = await engine.get(id)
        while (await handle.row()).awake:
            await asyncio.sleep(0.01)


async def _engine(url: str, told: list[str], timed: list[str]) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.parked.engine_process"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        preexec_fn=ends_with_us,
    )
    said, _ = await process.communicate(json.dumps({"url": [url], "told": told, "timed": timed}).encode())
    if process.returncode:
        raise RuntimeError("the engine failed")
    return json.loads(said)


async def _measure(place: str, runs: int) -> dict[str, Any]:
    async with filled(place, runs) as url:
        chosen = random.Random(runs).sample(range(runs), min(TOLD, runs // 2))
        told = [copy_id(number) for number in chosen]
        found = await _engine(url, told, await _start_timed(url))
        await _check(url, [*told, *(f"timed-{number}" for number in range(TIMED))])
        return found


async def _check(url: str, woken: list[str]) -> None:
    """Those have ended, and no others."""
    async with Engine(url, work=False) as engine:
        ended = await engine.runs(RunFilter(namespace=DEFAULT_NAMESPACE, status="completed", limit=len(woken) + 10))
        if {row.id for row in ended} != {run_key(DEFAULT_NAMESPACE, id) for id in woken}:
            raise RuntimeError(f"{len(woken)} runs were woken, and {len(ended)} have ended")


async def measure(place: str, runs: int) -> list[Figure]:
    few, many = await _measure(place, FEW), await _measure(place, runs)
    limits = PARKED_LIMITS
    return [
        Figure(f"{place}: engine starts, s", many["opened"], limits["start_s"]),
        Figure(f"{place}: woken by a message, p99 ms", _p99(many["messages"]) * 1000, limits["wake_ms"]),
        Figure(f"{place}: woken by its timer, p99 ms", _p99(many["timers"]) * 1000, limits["wake_ms"]),
        Figure(
            f"{place}: memory more than beside {FEW:,}, MB", (many["memory"] - few["memory"]) / 1e6, limits["memory_mb"]
        ),
    ]


def _p99(seconds: list[float]) -> float:
    return sorted(seconds)[max(0, -(-len(seconds) * 99 // 100) - 1)]


def show(found: list[Figure], runs: int) -> None:
    table = Table(title=f"Beside {runs:,} parked runs")
    for column in ("what", "value", "limit", ""):
        table.add_column(column)
    for figure in found:
        table.add_row(figure.name, f"{figure.value:,.3g}", figure.limit.text, figure.limit.verdict(figure.value))
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.parked", description="An engine beside runs that wait.")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"parked runs (default: {RUNS:,})")
    parser.add_argument("--store", choices=_PLACES, action="append", help="only this one")
    options = parser.parse_args()
    found: list[Figure] = []
    for place in options.store or _PLACES:
        found += asyncio.run(measure(place, options.runs))
    show(found, options.runs)
    return 0 if all(figure.met for figure in found) else 1


if __name__ == "__main__":
    sys.exit(main())
