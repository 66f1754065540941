"""``python -m bench.fleet``: what a second engine process on the same PostgreSQL adds.

python -m bench.fleet                     # W1, W3 and W4 with one and two processes, three rounds
python -m bench.fleet --quick --processes 1 2 3
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys

from rich.console import Console
from rich.table import Table

from bench.fleet.works import Figures, Work, measure, works
from bench.postgres import databases
from bench.targets import FLEET_GAIN


async def run(counts: list[int], rounds: int, found: list[Work]) -> dict[int, dict[str, Figures]]:
    """By number of processes: the medians."""
    figures: dict[int, list[dict[str, Figures]]] = {count: [] for count in counts}
    async with databases() as servers:
        for _ in range(rounds):
            for count in counts:
                async with servers.fresh() as url:
                    figures[count].append(await measure(url, count, found))
    return {
        count: {work.name: _median([each[work.name] for each in rounds]) for work in found}
        for count, rounds in figures.items()
    }


def _median(found: list[Figures]) -> Figures:
    return Figures(
        statistics.median(each.rate for each in found),
        statistics.median(each.engines for each in found),
        statistics.median(each.server for each in found),
    )


def show(found: dict[int, dict[str, Figures]], done: list[Work]) -> bool:
    """Whether the limit is reached, if one and two were measured."""
    table = Table(title=f"A fleet on PostgreSQL, {os.cpu_count()} cores for all of it")
    engines = ["1 engine" if count == 1 else f"{count} engines" for count in found]
    for name in ("work", *engines, "µs: engines + server", "gain of 2", "at most", "limit", ""):
        table.add_column(name, justify="left" if name == "work" else "right")
    met = True
    for work in done:
        each = [found[count][work.name] for count in found]
        rates = [f"{figures.rate:,.0f} {work.unit}" for figures in each]
        judged = ("", "", "", "")
        if {1, 2} <= found.keys():
            gain = found[2][work.name].rate / found[1][work.name].rate
            met &= FLEET_GAIN.met(gain)
            most = f"{found[1][work.name].most:.2f} ×" if found[1][work.name].server else ""
            judged = (f"{gain:.2f} ×", most, f"{FLEET_GAIN.text} ×", FLEET_GAIN.verdict(gain))
        table.add_row(work.name, *rates, f"{each[-1].engines:,.0f} + {each[-1].server:,.0f}", *judged)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    return met


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description="Engines that share one PostgreSQL.")
    parser.add_argument("--quick", action="store_true", help="a quarter of the runs, one round")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--work", choices=["W1", "W3", "W4"], action="append", help="only this one")
    options = parser.parse_args()
    done = [work for work in works(quick=options.quick) if work.name in (options.work or (work.name,))]
    found = asyncio.run(run(options.processes, 1 if options.quick else 3, done))
    return 0 if show(found, done) else 1


if __name__ == "__main__":
    sys.exit(main())
