"""The engine that starts beside parked runs, in a process of its own: only so its memory means something."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time

from bench.parked.flow import TIMED_OUT, parked
from bench.subjects.usage import memory_bytes
from plait import Engine

_QUIET = 0.01
"""Seconds between two messages: each is measured alone."""


async def main(order: dict[str, list[str]]) -> dict[str, float | list[float]]:
    [url] = order["url"]
    began = time.perf_counter()
    async with Engine(url, definitions=[parked]) as engine:
        opened = time.perf_counter() - began
        async with asyncio.TaskGroup() as waiting:
            timed = [waiting.create_task(_by_time(engine, run)) for run in order["timed"]]
            messages = [await _by_message(engine, run, number) for number, run in enumerate(order["told"])]
        gc.collect()
        timers = [each.result() for each in timed]
        return {"opened": opened, "messages": messages, "timers": timers, "memory": memory_bytes([])}


async def _by_message(engine: Engine, run: str, number: int) -> float:
    """Seconds from the message to the end of the run."""
    await asyncio.sleep(_QUIET)
    handle = await engine.get(run)
    began = time.perf_counter()
    await handle.message("number", number)
    if await handle.result() != number:
        raise RuntimeError(f"run {run} took another message")
    return time.perf_counter() - began


async def _by_time(engine: Engine, run: str) -> float:
    """Seconds from when it was due to its end."""
    handle = await engine.get(run)
    row = await handle.row()
    assert row.waiting is not None
    due = row.waiting.until
    assert due is not None
    if due < time.time() * 1000:
        raise RuntimeError("the engine started too late for its timers")
    if await handle.result() != TIMED_OUT:
        raise RuntimeError(f"run {run} was not woken by its timer")
    return time.time() - due / 1000


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.load(sys.stdin)))), flush=True)
