"""``python -m bench.graph``: tokens a second, the time of a hop, and a fan-out into a join.

python -m bench.graph
python -m bench.graph --runs 5000 --json
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from rich.console import Console
from rich.table import Table

from . import figures
from .figures import Figure

RUNS = 2_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.graph", description="Graphs: tokens, hops and joins.")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of a chain (default: {RUNS})")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    found = figures.measure(options.runs)
    if options.json:
        print(json.dumps([dataclasses.asdict(figure) for figure in found], indent=2))
    else:
        show(Console(width=None if sys.stdout.isatty() else 120), found)
    return 0 if all(figure.met for figure in found) else 1


def show(console: Console, found: list[Figure]) -> None:
    table = Table(title="Graphs with native handlers, SQLite FULL")
    for title in ("what", "value", "limit", ""):
        table.add_column(title)
    for figure in found:
        table.add_row(figure.name, f"{figure.value:,.3g}", figure.limit.text, figure.limit.verdict(figure.value))
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
