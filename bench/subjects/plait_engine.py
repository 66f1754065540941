"""Plait as a user would write it: the public names and nothing else."""

from __future__ import annotations

import asyncio
from importlib import metadata
from typing import Any

from bench.subjects.engine import GATE
from bench.subjects.script import run_engine
from plait import Context, step, workflow
from plait import Engine as PlaitEngine

DAY = 86_400


@step
async def number(i: int) -> int:
    return i


@step(timeout=None)
async def pass_gate(run: str) -> int:
    await GATE.passing(run)
    return 0


@workflow
async def sequential(ctx: Context, steps: int) -> int:
    total = 0
    for i in range(steps):
        total += await ctx.step(f"s{i}", number, i)
    return total


@workflow
async def parallel(ctx: Context, width: int) -> int:
    return sum(await asyncio.gather(*(ctx.step(f"s{i}", number, i) for i in range(width))))


@workflow
async def held(ctx: Context, plan: tuple[str, int, int]) -> int:
    run, before, after = plan
    for i in range(before):
        await ctx.step(f"before-{i}", number, i)
    await ctx.step("gate", pass_gate, run)
    for i in range(after):
        await ctx.step(f"after-{i}", number, i)
    return before + after


@workflow
async def sleeping(ctx: Context) -> None:
    await ctx.sleep("a-day", DAY)


class PlaitSubject:
    def __init__(self, target: str, **options: Any) -> None:
        self._engine = PlaitEngine(target, definitions=[sequential, parallel, held, sleeping], **options)

    async def open(self) -> None:
        await self._engine.__aenter__()

    async def sequential(self, run: str, steps: int) -> int:
        handle = await self._engine.start(sequential, steps, id=run)
        return await handle.result()

    async def parallel(self, run: str, width: int) -> int:
        handle = await self._engine.start(parallel, width, id=run)
        return await handle.result()

    async def hold(self, run: str, before: int, after: int) -> None:
        await self._engine.start(held, (run, before, after), id=run)
        await GATE.arrival(run)

    async def resume(self, runs: list[str]) -> None:
        async def finish(run: str) -> None:
            handle = await self._engine.get(run)
            await handle.result()

        await asyncio.gather(*(finish(run) for run in runs))

    async def sleep(self, run: str) -> None:
        await self._engine.start(sleeping, id=run)

    def helpers(self) -> list[int]:
        return []


if __name__ == "__main__":
    run_engine(metadata.version("plait"), PlaitSubject)
