"""Workflows that the tests of the engine use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plait import Context, Retry, workflow


@dataclass
class Order:
    sku: str
    count: int = 1


@workflow
async def echo(ctx: Context, input: Any) -> Any:
    return input


@workflow
async def nothing(ctx: Context) -> None:
    return None


@workflow
async def typed(ctx: Context, order: Order) -> Order:
    return Order(order.sku, order.count + 1)


@workflow
async def listener(ctx: Context) -> Any:
    message = await ctx.listen("go")
    return None if message is None else message.body


@workflow
async def collector(ctx: Context, wanted: int) -> list[Any]:
    found: list[Any] = []
    for number in range(wanted):
        message = await ctx.listen(f"m{number}", "item")
        assert message is not None
        found.append(message.body)
    return found


@workflow
async def sleeper(ctx: Context, seconds: float) -> str:
    await ctx.sleep("nap", seconds)
    return "rested"


@workflow
async def approval(ctx: Context, by: str) -> dict[str, Any]:
    verdict = await ctx.approve("manager", by=by)
    return {"decision": verdict.decision, "by": verdict.by, "comment": verdict.comment, "data": verdict.data}


@workflow
async def parent(ctx: Context, input: Any) -> Any:
    return await ctx.child("kid", echo, input, id="kid")


@workflow
async def mother(ctx: Context) -> Any:
    return await ctx.child("kid", listener, id="kid")


@workflow
async def failing(ctx: Context) -> None:
    raise ValueError("no luck")


ONE_TRY = Retry(max_attempts=1)
