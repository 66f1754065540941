"""Workflows that the server's tests start."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from plait import Context, Undo, step, step_log, workflow


@dataclass(frozen=True)
class Order:
    customer: str
    items: int = 1


@step
async def reserve(order: Order) -> str:
    step_log(f"reserving for {order.customer}")
    return f"hold for {order.customer}"


@step
async def release(undo: Undo) -> None:
    return None


@step
async def ship(order: Order) -> str:
    return f"{order.items} on the way"


@workflow
async def order(ctx: Context, order: Order) -> str:
    """Reserves, waits for a word, ships."""
    await ctx.step("reserve", reserve, order, rollback=release)
    await ctx.listen("go")
    return await ctx.step("ship", ship, order)


@workflow
async def quick(ctx: Context, order: Order) -> str:
    """Ends at once."""
    await ctx.step("reserve", reserve, order)
    return await ctx.step("ship", ship, order)


@workflow
async def asking(ctx: Context) -> str:
    """Asks a person."""
    verdict = await ctx.approve("teapot", by="boss")
    return verdict.comment if verdict.approved else "no"


@workflow
async def board(ctx: Context) -> str:
    """Asks two people."""
    verdict = await ctx.approve("budget", required=2, approvers=["ada", "bob"])
    return verdict.by


@workflow
async def shown(ctx: Context, order: dict[str, int]) -> str:
    """Shows what it asks about."""
    return (await ctx.approve("order", evidence=order)).by


@step(max_attempts=1)
async def refuse() -> None:
    raise ConnectionError("the bank says no")


@workflow
async def failing(ctx: Context) -> None:
    """Its only step can't succeed."""
    await ctx.step("charge", refuse)


@workflow
async def chatty(ctx: Context, count: int) -> int:
    """Makes many events, one after the other."""
    for number in range(count):
        await ctx.step(f"tick-{number}", tick)
    return count


@step
async def tick() -> None:
    await asyncio.sleep(0)


@workflow
async def echo(ctx: Context, value: object) -> object:
    """Gives back what it gets."""
    return value
