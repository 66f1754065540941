"""``python -m bench.goals``: what registering one more step and planning cost in a catalog of 10,000 steps.

python -m bench.goals
python -m bench.goals --samples 500 --json
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from rich.console import Console
from rich.table import Table

from .figures import CATALOG, Figure, measure

SAMPLES = 200


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.goals", description="Goals: ms a change and a plan.")
    parser.add_argument("--samples", type=int, default=SAMPLES, help=f"calls of each kind (default: {SAMPLES})")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    figures = measure(options.samples)
    if options.json:
        print(json.dumps([dataclasses.asdict(figure) for figure in figures], indent=2))
    else:
        show(figures, options.samples)
    return 0 if all(figure.met for figure in figures) else 1


def show(figures: list[Figure], samples: int) -> None:
    table = Table(title=f"Goals: a catalog of {CATALOG:,} steps, {samples} samples, ms")
    table.add_column("what")
    for title in ("median", "worst", "µs a step", "limit"):
        table.add_column(title, justify="right")
    for figure in figures:
        per_step = "" if figure.per_step is None else f"{figure.per_step:.1f}"
        limit = "" if figure.limit is None else f"≤ {figure.limit:g} {'ok' if figure.met else 'MISSED'}"
        table.add_row(figure.name, f"{figure.median:.3f}", f"{figure.worst:.3f}", per_step, limit)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    sys.exit(main())
