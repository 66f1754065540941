"""``python -m bench.profile``: what one step of W1 costs, layer by layer.

The interpreter counts: bytecodes carried out, and functions of Python called, while runs of ten steps go through an
engine on the memory store, many at once. Neither depends on the machine or on what else it does, so before and after
can be compared to the last digit; nine tenths of a step's time are the interpreter's. The time beside them is of an
untraced run: good for an impression, and on a busy machine for less.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from rich.console import Console
from rich.table import Table

from plait import Context, Engine, step, workflow

STEPS = 10
RUNS = 50
TIMED_RUNS = 2_000
ROUNDS = 3

LAYERS: dict[str, tuple[str, ...]] = {
    "dialect": ("plait/dialects/",),
    "values": ("plait/kernel/values.py",),
    "commit": ("plait/kernel/unit_of_work.py", "plait/kernel/loop.py", "plait/kernel/ready_queue.py", "plait/stores/"),
    "dispatch and work": ("plait/kernel/dispatcher.py", "plait/kernel/delivery.py", "plait/workers/"),
    "run": ("plait/kernel/",),
    "asyncio": ("/asyncio/", "_weakrefset.py", "contextvars.py"),
    "the workflow itself": ("bench/profile.py",),
}
"""By what a file's path has in it; the first that fits. What fits none is `other`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    calls: float
    bytecodes: float


BEFORE = {
    "dialect": Cost(59.5, 1545),
    "values": Cost(5.8, 132),
    "commit": Cost(9.1, 365),
    "dispatch and work": Cost(11.0, 334),
    "run": Cost(31.6, 994),
    "asyncio": Cost(14.0, 238),
    "the workflow itself": Cost(2.4, 29),
    "other": Cost(3.9, 65),
}
"""Of commit e14bcc8, measured with this file. Its modules had other names, so that more of them count as `run`."""


@step
async def number(i: int) -> int:
    return i


@workflow
async def ten(ctx: Context, count: int) -> int:
    total = 0
    for i in range(count):
        total += await ctx.step(f"step-{i}", number, i)
    return total


class Tracer:
    def __init__(self) -> None:
        self.calls: Counter[CodeType] = Counter()
        self.bytecodes: Counter[CodeType] = Counter()

    def __call__(self, frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        if event == "call":
            self.calls[frame.f_code] += 1
        elif event == "opcode":
            self.bytecodes[frame.f_code] += 1
        return self


async def traced() -> dict[str, Cost]:
    tracer = Tracer()
    async with Engine("memory:", definitions=[ten]) as engine:
        await _runs(engine, RUNS)  # warm
        sys.settrace(tracer)
        try:
            await _runs(engine, RUNS)
        finally:
            sys.settrace(None)
    return _by_layer(tracer, RUNS * STEPS)


async def timed() -> float:
    """Microseconds of processor time a step, the least of some rounds."""
    found: list[float] = []
    async with Engine("memory:", definitions=[ten]) as engine:
        for _ in range(ROUNDS):
            began = time.process_time()
            await _runs(engine, TIMED_RUNS)
            found.append((time.process_time() - began) / (TIMED_RUNS * STEPS) * 1e6)
    return min(found)


async def _runs(engine: Engine, count: int) -> None:
    handles = [await engine.start(ten, STEPS) for _ in range(count)]
    for handle in handles:
        if await handle.result() != sum(range(STEPS)):
            raise AssertionError("a run gave the wrong result")


def _by_layer(tracer: Tracer, steps: int) -> dict[str, Cost]:
    calls: Counter[str] = Counter()
    bytecodes: Counter[str] = Counter()
    for code, count in tracer.bytecodes.items():
        layer = _layer(code.co_filename)
        bytecodes[layer] += count
        calls[layer] += tracer.calls[code]
    return {layer: Cost(calls[layer] / steps, bytecodes[layer] / steps) for layer in (*LAYERS, "other")}


def _layer(file: str) -> str:
    return next((layer for layer, parts in LAYERS.items() if any(part in file for part in parts)), "other")


def total(costs: dict[str, Cost]) -> Cost:
    return Cost(sum(cost.calls for cost in costs.values()), sum(cost.bytecodes for cost in costs.values()))


def show(console: Console, now: dict[str, Cost], micros: float) -> None:
    table = Table(title=f"One step of W1 on the memory store: {micros:.1f} µs of processor time")
    table.add_column("layer")
    for title in ("calls", "before", "bytecodes", "before", ""):
        table.add_column(title, justify="right")
    for layer, cost in [*now.items(), ("all", total(now))]:
        before = total(BEFORE) if layer == "all" else BEFORE[layer]
        share = f"{cost.bytecodes / before.bytecodes:.0%}" if before.bytecodes else "–"
        table.add_row(
            layer,
            f"{cost.calls:.1f}",
            f"{before.calls:.1f}",
            f"{cost.bytecodes:,.0f}",
            f"{before.bytecodes:,.0f}",
            share,
            end_section=layer == "other",
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.profile", description="What a step of W1 costs, by layer.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    now = asyncio.run(traced())
    micros = asyncio.run(timed())
    if options.json:
        parts = {"now": now, "before": BEFORE}
        costs = {k: {n: dataclasses.asdict(c) for n, c in part.items()} for k, part in parts.items()}
        print(json.dumps({**costs, "micros": micros}))
    else:
        show(Console(width=None if sys.stdout.isatty() else 120), now, micros)


if __name__ == "__main__":
    main()
