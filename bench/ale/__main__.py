"""``python -m bench.ale``: µs a call, compiled and not, and µs a turn of loops.

The figures are of the processor's time, the best of several rounds.

    python -m bench.ale
    python -m bench.ale --json
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.cpu_time import micros
from plait.scripts import ale
from plait.scripts.ale import Limits, Script

PATIENT = Limits(seconds=60)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement; with a target, whether it was met."""

    name: str
    text: str
    micros: float
    target: float | None = None


PREDICATES: list[tuple[str, str, dict[str, Any], float | None]] = [
    ("number", "(> amount 100)", {"amount": 120}, 2.0),
    ("two inputs", '(and (> amount 100) (eq tier "gold"))', {"amount": 120, "tier": "gold"}, None),
    ("field of an object", "(> (:total order) 100)", {"order": {"total": 120, "id": "o-1"}}, None),
    ("threading", "(-> order :total (> 100))", {"order": {"total": 120, "id": "o-1"}}, None),
    ("choice", "(cond [(< n 10) :low] [(< n 100) :mid] [:else :high])", {"n": 50}, None),
]
SCRIPTS: list[tuple[str, str, dict[str, Any]]] = [
    ("object as a result", "{:total (* price count) :ok #t}", {"price": 3, "count": 4}),
    ("sum of ten", "(reduce + (map :price items))", {"items": [{"price": n} for n in range(10)]}),
]
LOOPS: list[tuple[str, str, int]] = [
    ("tail call", "(define (loop n) (if (= n 0) :done (loop (dec n)))) (loop 100000)", 100_000),
    ("recursive call", "(define (sum n) (if (= n 0) 0 (+ n (sum (dec n))))) (sum 9000)", 9_000),
    ("lazy element", "(reduce + (map inc (range 50000)))", 50_000),
]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.ale", description="Ale: µs a call.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    figures = measure()
    if options.json:
        print(json.dumps([vars_of(figure) for figure in figures], indent=2, ensure_ascii=False))
    else:
        show(figures)
    return 0 if all(figure.target is None or figure.micros <= figure.target for figure in figures) else 1


def measure() -> list[Figure]:
    figures: list[Figure] = []
    for name, text, inputs, target in PREDICATES:
        script = Script(text, sorted(inputs))
        figures.append(Figure(f"predicate: {name}", text, micros(lambda: script.holds(inputs)), target))  # noqa: B023
    for name, text, inputs in SCRIPTS:
        script = Script(text, sorted(inputs))
        figures.append(Figure(f"script: {name}", text, micros(lambda: script.call(inputs))))  # noqa: B023
    for name, text, turns in LOOPS:
        script = Script(text, limits=PATIENT)
        figures.append(Figure(f"turn: {name}", text, micros(script.call) / turns))
    text = PREDICATES[0][1]
    figures.append(Figure("compile, cached", text, micros(lambda: ale.compile(text, ["amount"]))))
    figures.append(Figure("compile, new", text, micros(lambda: Script(text, ["amount"]))))
    return figures


def vars_of(figure: Figure) -> dict[str, object]:
    return {"name": figure.name, "text": figure.text, "micros": round(figure.micros, 3), "target": figure.target}


def show(figures: list[Figure]) -> None:
    table = Table("what", "text", "µs", "target", title="Ale")
    for figure in figures:
        met = (
            ""
            if figure.target is None
            else f"≤ {figure.target:g} {'ok' if figure.micros <= figure.target else 'MISSED'}"
        )
        table.add_row(figure.name, Text(figure.text), f"{figure.micros:.2f}", met)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    sys.exit(main())
