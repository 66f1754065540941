"""The works themselves, on any engine.

Every work warms up first, on the kind of run it is about to measure, and checks the results it gets: a fast wrong
answer is a failure, not a figure.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import Awaitable, Callable

from bench.sizes import Sizes
from bench.subjects.engine import Engine
from bench.subjects.usage import cpu_seconds, memory_bytes
from bench.works import Measures

STEPS = 10
HELD_BEFORE = 5
HELD_AFTER = 4
SETTLE_SECONDS = 1.0
CACHED_RUNS = 2000
"""More than any subject keeps in memory on purpose."""

Start = Callable[[str], Awaitable[None]]


async def measure(engine: Engine, work: str, sizes: Sizes) -> Measures:
    match work:
        case "W1":
            return await _many_and_alone(engine, sizes)
        case "W2":
            return await _fan_out(engine, sizes)
        case "W3":
            return await _short_runs(engine, sizes)
        case "W5":
            return await _sleepers(engine, sizes)
        case "W6":
            return await _growing_history(engine, sizes)
        case _:
            raise ValueError(f"work {work} has nothing to measure in one process")


async def hold(engine: Engine, work: str, sizes: Sizes) -> None:
    """Bring the runs of a crashing work to the gate."""
    await asyncio.gather(*(engine.hold(run, before, HELD_AFTER) for run, before in _held(work, sizes)))


async def resume(engine: Engine, work: str, sizes: Sizes) -> Measures:
    """Open the store a killed process left, and finish its runs."""
    began = time.perf_counter()
    await engine.open()
    await engine.resume([run for run, _ in _held(work, sizes)])
    return {"seconds_after_open": time.perf_counter() - began}


def _held(work: str, sizes: Sizes) -> list[tuple[str, int]]:
    if work == "W6":
        return [("history", sizes.history)]
    return [(f"held-{number}", HELD_BEFORE) for number in range(sizes.in_flight)]


async def _many_and_alone(engine: Engine, sizes: Sizes) -> Measures:
    def start(run: str) -> Awaitable[None]:
        return _sequential(engine, run, STEPS)

    await _at_once(start, "warm", max(5, sizes.runs // 20), 4)
    rates: Measures = {}
    for level in sizes.levels:
        seconds = await _at_once(start, f"many-{level}", sizes.runs, level)
        rates[f"steps_per_s_{level}"] = sizes.runs * STEPS / seconds
    alone = [await _timed(start(f"alone-{number}")) for number in range(sizes.alone)]
    return {"steps_per_s": max(rates.values()), "p50_ms": statistics.median(alone) * 1000, **rates}


async def _fan_out(engine: Engine, sizes: Sizes) -> Measures:
    async def run(name: str, width: int) -> None:
        _check(await engine.parallel(name, width), width)

    await run("warm", sizes.width // 10)
    times = [await _timed(run(f"wide-{number}", sizes.width)) for number in range(sizes.wide_runs)]
    return {"seconds": statistics.median(times)}


async def _short_runs(engine: Engine, sizes: Sizes) -> Measures:
    def start(run: str) -> Awaitable[None]:
        return _sequential(engine, run, 1)

    await _at_once(start, "warm", max(5, sizes.runs // 20), 4)
    rates: Measures = {}
    for level in sizes.levels:
        seconds = await _at_once(start, f"short-{level}", sizes.runs, level)
        rates[f"runs_per_s_{level}"] = sizes.runs / seconds
    return {"runs_per_s": max(rates.values()), **rates}


async def _sleepers(engine: Engine, sizes: Sizes) -> Measures:
    """The first ones fill caches of fixed size, which are not the price of a run."""
    level = sizes.levels[-1]
    warm = min(CACHED_RUNS, sizes.sleepers // 2)
    counted = sizes.sleepers - warm
    await _at_once(engine.sleep, "warm", warm, level)
    gc.collect()
    before = memory_bytes(engine.helpers())
    seconds = await _at_once(engine.sleep, "sleeper", counted, level)
    await asyncio.sleep(SETTLE_SECONDS)
    gc.collect()
    grown = memory_bytes(engine.helpers()) - before
    return {
        "starts_per_s": counted / seconds,
        "bytes_per_run": max(0.0, grown / counted),
        "idle_cpu_percent": await _idle_cpu_percent(engine, sizes.idle_seconds),
    }


async def _idle_cpu_percent(engine: Engine, seconds: float) -> float:
    cpu, wall = cpu_seconds(engine.helpers()), time.perf_counter()
    await asyncio.sleep(seconds)
    return 100 * (cpu_seconds(engine.helpers()) - cpu) / (time.perf_counter() - wall)


async def _growing_history(engine: Engine, sizes: Sizes) -> Measures:
    """Cost per step of one run alone, from short to long; short ones are repeated until they are as much work."""
    await _sequential(engine, "warm", STEPS)
    costs: Measures = {}
    for length in sizes.lengths:
        repeats = max(1, min(20, 1000 // length))
        times = [await _timed(_sequential(engine, f"long-{length}-{number}", length)) for number in range(repeats)]
        costs[f"step_us_{length}"] = statistics.median(times) / length * 1e6
    shortest, longest = f"step_us_{sizes.lengths[0]}", f"step_us_{sizes.lengths[-1]}"
    return {"growth": costs[longest] / costs[shortest], **costs}


async def _sequential(engine: Engine, run: str, steps: int) -> None:
    _check(await engine.sequential(run, steps), steps)


def _check(total: int, steps: int) -> None:
    expected = sum(range(steps))
    if total != expected:
        raise AssertionError(f"the run returned {total} where its {steps} steps add up to {expected}")


async def _at_once(start: Start, prefix: str, count: int, level: int) -> float:
    """Seconds for ``count`` runs with ``level`` of them in flight at any moment."""
    numbers = iter(range(count))

    async def keep_one_in_flight() -> None:
        for number in numbers:
            await start(f"{prefix}-{number}")

    async def all_of_them() -> None:
        await asyncio.gather(*(keep_one_in_flight() for _ in range(min(level, count))))

    return await _timed(all_of_them())


async def _timed(work: Awaitable[None]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began
