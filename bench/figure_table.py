"""Figures beside their limits: as a table for people, or as JSON. What the benchmarks of one dialect print."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from .targets import Limit


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: float
    limit: Limit

    @property
    def met(self) -> bool:
        return self.limit.met(self.value)


def main(name: str, description: str, title: str, runs: int, measure: Callable[[int], list[Figure]]) -> int:
    """The exit code: whether all limits are met."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=description)
    parser.add_argument("--runs", type=int, default=runs, help=f"runs of each (default: {runs})")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    found = measure(options.runs)
    if options.json:
        print(json.dumps([dataclasses.asdict(figure) for figure in found], indent=2))
    else:
        _show(Console(width=None if sys.stdout.isatty() else 120), title, found)
    return 0 if all(figure.met for figure in found) else 1


def _show(console: Console, title: str, found: list[Figure]) -> None:
    table = Table(title=title)
    for column in ("what", "value", "limit", ""):
        table.add_column(column)
    for figure in found:
        table.add_row(figure.name, f"{figure.value:,.3g}", figure.limit.text, figure.limit.verdict(figure.value))
    console.print(table)
