"""What the tests of the hot path run: a step and a graph whose work is on queues."""

from __future__ import annotations

import asyncio
from typing import Any

from plait import Context, step, workflow
from plait.dialects.graph.graph import graph


@step(queue="math", timeout=60)
async def double(n: int) -> int:
    raise AssertionError("no worker of this process does it")


@workflow
async def doubled(ctx: Context, n: int) -> int:
    return await ctx.step("double", double, n)


@workflow
async def crowd(ctx: Context, count: int) -> int:
    return sum(await asyncio.gather(*(ctx.step(f"double-{n}", double, n) for n in range(count))))


def shouting(**more: Any) -> Any:
    """`A` shouts on the stream `wf.tasks.voice`."""
    node = {"id": "A", "type": "task", "queue": "voice", "config": {"handler": "shout"}, **more}
    return graph({"nodes": [node], "edges": []})
