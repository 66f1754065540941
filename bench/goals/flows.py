"""Flows of ten steps in a chain beside the ten-step workflow of W1, on one SQLite file each, in one process.

The same concurrency, the same durability (FULL): the share is what planning backwards costs over plain code.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import uvloop

from plait import Context, Engine, goals, workflow
from plait import step as code_step
from plait.catalog import StepBuilder, catalog_step

STEPS = 10
AT_ONCE = 200
SHARE_LIMIT = 0.4

Once = Callable[[int], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Rate:
    """Steps a second, and the share of W1's; with a limit, whether the share keeps it."""

    name: str
    steps_per_s: float
    share: float
    limit: float | None = None

    @property
    def met(self) -> bool:
        return self.limit is None or self.share >= self.limit


@code_step
async def number(i: int) -> int:
    return i


@workflow
async def sequential(ctx: Context, seed: int) -> int:
    total = 0
    for i in range(STEPS):
        total += await ctx.step(f"s{i}", number, i)
    return total


async def add(**inputs: int) -> dict[str, int]:
    [(name, value)] = inputs.items()
    return {f"x{int(name[1:]) + 1}": value + 1}


def _chain(kind: str) -> list[StepBuilder]:
    return [
        _link(kind, catalog_step(f"{kind}-{i}").required(f"x{i}", int).output(f"x{i + 1}", int), i)
        for i in range(STEPS)
    ]


def _link(kind: str, made: StepBuilder, i: int) -> StepBuilder:
    match kind:
        case "python":
            return made.python("add")
        case "ale":
            return made.ale(f"{{:x{i + 1} (+ x{i} 1)}}")
        case _:
            return made.lua(f"return {{x{i + 1} = x{i} + 1}}")


def measure(flows: int) -> list[Rate]:
    return uvloop.run(_measure(flows))


async def _measure(flows: int) -> list[Rate]:
    with tempfile.TemporaryDirectory() as folder:
        base = await _code(Path(folder) / "code.db", flows)
        found = [Rate("W1: a workflow of ten steps", base, 1.0)]
        for kind, count in (("python", flows), ("ale", flows), ("lua", flows // 4)):
            rate = await _goals(Path(folder) / f"{kind}.db", kind, count)
            limit = SHARE_LIMIT if kind == "python" else None
            found.append(Rate(f"a flow of ten {kind} steps", rate, rate / base, limit))
        return found


async def _code(path: Path, flows: int) -> float:
    async with Engine(f"sqlite:///{path}", definitions=[sequential]) as engine:

        async def once(seed: int) -> object:
            return await (await engine.start(sequential, seed)).result()

        return await _rate(once, flows, 45)


async def _goals(path: Path, kind: str, flows: int) -> float:
    async with Engine(f"sqlite:///{path}") as engine:
        async with engine.catalog.transaction() as changes:
            for each in _chain(kind):
                changes.register(each, add if kind == "python" else None)
        goal = goals(f"{kind}-{STEPS - 1}")

        async def once(seed: int) -> object:
            found = await (await engine.start(goal, {"x0": 0})).result()
            return found[f"x{STEPS}"]

        return await _rate(once, flows, STEPS)


async def _rate(once: Once, flows: int, expected: object) -> float:
    """Steps a second with so many at once; every result is checked."""
    await asyncio.gather(*(once(seed) for seed in range(20)))
    waiting = iter(range(flows))

    async def lane() -> None:
        for seed in waiting:
            if (found := await once(seed)) != expected:
                raise AssertionError(f"{found} is not {expected}")

    began = time.perf_counter()
    await asyncio.gather(*(lane() for _ in range(AT_ONCE)))
    return flows * STEPS / (time.perf_counter() - began)
