"""The works on a bare table: the same rows, one commit for what would be concurrent, and no engine.

Nobody can beat these figures on the same database with the same guarantees, so they say how much of what the disk
offers an engine uses. Memory, CPU and growth are an engine's own, and have no limit.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterable
from typing import Protocol

from bench.sizes import Sizes
from bench.subjects import limit_rows
from bench.subjects.limit_rows import Batch
from bench.subjects.script import Order
from bench.subjects.works import HELD_AFTER, HELD_BEFORE, STEPS
from bench.works import Measures


class Table(Protocol):
    """A table ``events (run_id, seq, data)``, keyed by the first two."""

    async def open(self) -> None: ...

    async def write(self, rows: Batch) -> None:
        """Insert the rows in one transaction, durable on return."""
        ...

    async def read(self) -> list[str]:
        """The data of all events, by run and sequence number."""
        ...


async def perform(table: Table, order: Order) -> Measures:
    sizes = order.sizes
    if order.phase == "resume":
        return await _resume(table, order)
    await table.open()
    if order.phase == "hold":
        await _write_all(table, _held(order))
        return {}
    match order.work:
        case "W1":
            rates = await _rates(table, sizes, STEPS, "steps_per_s")
            alone = [list(limit_rows.runs_in_step(f"alone-{i}", 1, STEPS, 1)) for i in range(sizes.alone)]
            return {**rates, "p50_ms": statistics.median([await _timed(table, run) for run in alone]) * 1000}
        case "W2":
            runs = [list(limit_rows.wide_run(f"wide-{i}", sizes.width)) for i in range(sizes.wide_runs)]
            return {"seconds": statistics.median([await _timed(table, run) for run in runs])}
        case "W3":
            return await _rates(table, sizes, 1, "runs_per_s")
        case "W5":
            batches = list(limit_rows.sleepers("sleeper", sizes.sleepers, sizes.levels[-1]))
            return {"starts_per_s": sizes.sleepers / await _timed(table, batches)}
        case "W6":
            return await _cost_per_step(table, sizes)
        case _:
            raise ValueError(f"no limit is known for work {order.work}")


async def _rates(table: Table, sizes: Sizes, steps: int, name: str) -> Measures:
    """Steps per second of runs of ``steps`` steps; with one step, a step is a run."""
    rates: Measures = {}
    for level in sizes.levels:
        batches = list(limit_rows.runs_in_step(f"many-{level}", sizes.runs, steps, level))
        rates[f"{name}_{level}"] = sizes.runs * steps / await _timed(table, batches)
    return {name: max(rates.values()), **rates}


async def _cost_per_step(table: Table, sizes: Sizes) -> Measures:
    costs: Measures = {}
    for length in sizes.lengths:
        batches = list(limit_rows.runs_in_step(f"long-{length}", 1, length, 1))
        costs[f"step_us_{length}"] = await _timed(table, batches) / length * 1e6
    return costs


def _held(order: Order) -> list[Batch]:
    if order.work == "W6":
        return [limit_rows.history("history", order.sizes.history)]
    return [limit_rows.history(f"held-{i}", HELD_BEFORE) for i in range(order.sizes.in_flight)]


async def _resume(table: Table, order: Order) -> Measures:
    """Read and decode every event, then write the steps that are left, all runs in step."""
    runs = 1 if order.work == "W6" else order.sizes.in_flight
    rest = list(limit_rows.runs_in_step("rest", runs, HELD_AFTER + 1, runs))
    began = time.perf_counter()
    await table.open()
    for event in await table.read():
        json.loads(event)
    await _write_all(table, rest)
    return {"seconds_after_open": time.perf_counter() - began}


async def _timed(table: Table, batches: Iterable[Batch]) -> float:
    began = time.perf_counter()
    await _write_all(table, batches)
    return time.perf_counter() - began


async def _write_all(table: Table, batches: Iterable[Batch]) -> None:
    for batch in batches:
        await table.write(batch)
