"""``python -m bench.afl``: a large program checked, and wide, long and repeated work run.

python -m bench.afl
python -m bench.afl --json
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from rich.console import Console
from rich.table import Table

from . import checking, running
from .figure import Figure


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.afl", description="AFL: a large program checked, and programs run."
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    found = [*checking.measure(), *running.measure()]
    if options.json:
        print(json.dumps([dataclasses.asdict(figure) for figure in found], indent=2))
    else:
        show(Console(width=None if sys.stdout.isatty() else 120), found)
    return 0 if all(figure.met for figure in found) else 1


def show(console: Console, found: list[Figure]) -> None:
    table = Table(title="AFL, seconds of the processor")
    for title in ("what", "value", "limit", ""):
        table.add_column(title)
    for figure in found:
        table.add_row(figure.name, f"{figure.value:,.3g}", figure.limit.text, figure.limit.verdict(figure.value))
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
