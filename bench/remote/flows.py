"""What is measured: steps that do nothing, on a queue and in the engine's own process."""

from __future__ import annotations

import asyncio

from plait import Context, step, workflow


@step
async def here(n: int) -> int:
    return n


@step(queue="bench")
async def there(n: int) -> int:
    return n


@workflow
async def chain(ctx: Context, steps: int) -> int:
    for n in range(steps):
        await ctx.step(f"s{n}", there, n)
    return steps


@workflow
async def local_chain(ctx: Context, steps: int) -> int:
    for n in range(steps):
        await ctx.step(f"s{n}", here, n)
    return steps


@workflow
async def fan(ctx: Context, steps: int) -> int:
    return sum(await asyncio.gather(*(ctx.step(f"s{n}", there, 1) for n in range(steps))))
