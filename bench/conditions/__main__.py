"""``python -m bench.conditions``: µs an evaluation of each type of condition, compiled before.

The figures are of the processor's time, the best of several rounds; those of the sandbox, which is another process, are
of the clock.

    python -m bench.conditions
    python -m bench.conditions --json
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.cpu_time import micros
from bench.targets import Limit
from plait import conditions
from plait.conditions import SandboxCall
from plait.scripts.python import PythonSandbox
from plait.scripts.python.condition import ConditionSandbox

CALLS = 300
"""Of the sandbox."""
OUTPUT: dict[str, Any] = {
    "score": 85,
    "status": "success",
    "data": [{"id": f"c-{n}", "tier": "enterprise" if n % 7 == 0 else "free", "amount": n * 10} for n in range(50)],
}
CTX: dict[str, Any] = {"enrich_data": {"output": {"revenue": 150_000}, "metadata": {"attempt": 1}}}
SCHEMA = {
    "type": "object",
    "required": ["status", "data"],
    "properties": {"status": {"const": "success"}, "data": {"type": "array", "minItems": 1}},
}
SIDES = {
    "left": {"source": "current", "path": "output.score"},
    "operator": ">",
    "right": {"source": "context", "node": "enrich_data", "path": "metadata.attempt"},
}
CEL = "output.score >= 80 && ctx.enrich_data.output.revenue > 100000"
CONDITIONS: list[tuple[str, Any, float | None]] = [
    ("cel", CEL, 30),
    ("cel, all of 50", "output.data.all(each, each.amount >= 0)", None),
    ("schema_validation", {"type": "schema_validation", "schema": SCHEMA}, 30),
    ("cross_node_comparison", {"type": "cross_node_comparison"} | SIDES, 20),
    ("cross_node_comparison, as CEL", {"type": "cross_node_comparison", "expression": "current.output.score > 1"}, 20),
    (
        "jsonpath",
        {"type": "jsonpath", "query": "$.data[?@.tier == 'enterprise'].amount", "operator": "sum_gt", "value": 9},
        300,
    ),
    ("when", {"type": "when", "ref": "@enrich_data.revenue", "gt": 1}, None),
    (
        "composite",
        {"type": "composite", "operator": "AND", "conditions": [CEL, {"type": "when", "ref": "@input.x"}]},
        None,
    ),
]
CODE = """
def evaluate(output, context):
    return output['score'] > 80 and context['enrich_data']['output']['revenue'] > 1
"""


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    micros: float
    limit: Limit | None = None

    @property
    def met(self) -> bool:
        return self.limit is None or self.limit.met(self.micros)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.conditions", description="Conditions: µs an evaluation.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    figures = measure()
    if options.json:
        print(json.dumps([{"name": figure.name, "micros": figure.micros, "met": figure.met} for figure in figures]))
    else:
        show(figures)
    return 0 if all(figure.met for figure in figures) else 1


def measure() -> list[Figure]:
    figures = [_evaluated(*each) for each in CONDITIONS]
    figures.append(Figure("compile, from the cache", micros(lambda: conditions.compile(CEL))))
    figures.append(Figure("python_sandbox", asyncio.run(_in_sandbox()), Limit("at most", 5_000)))
    return figures


def _evaluated(name: str, source: Any, most: float | None) -> Figure:
    condition = conditions.compile(source)
    limit = None if most is None else Limit("at most", most)
    return Figure(name, micros(lambda: condition.evaluate(OUTPUT, CTX, {"x": 1})), limit)


async def _in_sandbox() -> float:
    """The median of calls, one after the other."""
    async with PythonSandbox() as pool:
        sandbox, call = ConditionSandbox(pool), SandboxCall(CODE, 1_000, 50)
        await sandbox.evaluate(call, OUTPUT, CTX)
        took: list[float] = []
        for _ in range(CALLS):
            started = perf_counter()
            await sandbox.evaluate(call, OUTPUT, CTX)
            took.append(perf_counter() - started)
    return median(took) * 1e6


def show(figures: list[Figure]) -> None:
    table = Table("condition", "µs", "limit", "", title="Conditions, compiled before")
    for figure in figures:
        limit = figure.limit
        told = ("", "") if limit is None else (limit.text, limit.verdict(figure.micros))
        table.add_row(figure.name, f"{figure.micros:,.2f}", *told)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    sys.exit(main())
