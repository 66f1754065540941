"""The runs that the page is measured with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from plait import Context, workflow

BRANCHES = 25


async def nothing() -> int:
    return 7


@workflow
async def long(ctx: Context, count: int) -> int:
    """One step after the other."""
    for number in range(count):
        await ctx.step(f"step {number}", nothing)
    return count


@workflow
async def nested(ctx: Context, count: int) -> int:
    """Branches side by side, each with a row of steps."""

    def branch(steps: int) -> Callable[[Context], Awaitable[int]]:
        async def row(c: Context) -> int:
            for number in range(steps):
                await c.step(f"step {number}", nothing)
            return steps

        return row

    found = await ctx.join("branches", {f"branch_{n}": branch(count // BRANCHES) for n in range(BRANCHES)})
    return sum(found.values())


@workflow
async def short(ctx: Context, name: str) -> str:
    """Ends at once: one of many in a list."""
    return name
