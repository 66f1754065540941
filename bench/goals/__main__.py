"""``python -m bench.goals``: what a catalog of 10,000 steps costs, and how many flows run beside plain workflows.

python -m bench.goals
python -m bench.goals --samples 500 --flows 2000 --json
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from rich.console import Console
from rich.table import Table

from . import figures, flows, holds
from .figures import CATALOG, Figure
from .flows import Rate

SAMPLES = 200
FLOWS = 2000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.goals", description="Goals: catalog, plans and flows.")
    parser.add_argument("--samples", type=int, default=SAMPLES, help=f"calls of each kind (default: {SAMPLES})")
    parser.add_argument("--flows", type=int, default=FLOWS, help=f"flows of ten steps each (default: {FLOWS})")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    found = [*figures.measure(options.samples), *holds.measure()]
    rates = flows.measure(options.flows)
    if options.json:
        parts = {"catalog": found, "flows": rates}
        print(json.dumps({name: [dataclasses.asdict(each) for each in part] for name, part in parts.items()}, indent=2))
    else:
        console = Console(width=None if sys.stdout.isatty() else 120)
        show_catalog(console, found, options.samples)
        show_flows(console, rates, options.flows)
    return 0 if all(each.met for each in (*found, *rates)) else 1


def show_flows(console: Console, rates: list[Rate], count: int) -> None:
    table = Table(title=f"Goals: {count:,} flows of ten steps, SQLite FULL, {flows.AT_ONCE} at once")
    table.add_column("what")
    for title in ("steps/s", "of W1", "limit"):
        table.add_column(title, justify="right")
    for rate in rates:
        limit = "" if rate.limit is None else f"≥ {rate.limit:.0%} {'ok' if rate.met else 'MISSED'}"
        table.add_row(rate.name, f"{rate.steps_per_s:,.0f}", f"{rate.share:.0%}", limit)
    console.print(table)


def show_catalog(console: Console, found: list[Figure], samples: int) -> None:
    table = Table(title=f"Goals: a catalog of {CATALOG:,} steps, {samples} samples, ms")
    table.add_column("what")
    for title in ("median", "worst", "µs a step", "limit"):
        table.add_column(title, justify="right")
    for figure in found:
        per_step = "" if figure.per_step is None else f"{figure.per_step:.1f}"
        limit = "" if figure.limit is None else f"≤ {figure.limit:g} {'ok' if figure.met else 'MISSED'}"
        table.add_row(figure.name, f"{figure.median:.3f}", f"{figure.worst:.3f}", per_step, limit)
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
