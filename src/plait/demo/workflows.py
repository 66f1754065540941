"""The workflows of the demo. Each step takes some time, so that there is something to watch."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field

from plait import Context, CriticalError, Loop, Retry, Undo, step, step_info, workflow

LEDGER = "PLAIT_DEMO_LEDGER"
"""The variable that names the file in which steps note that they begin: a witness outside the database."""


@dataclass(frozen=True)
class Order:
    customer: str
    items: list[str] = field(default_factory=lambda: ["tea", "pot", "cup"])
    bank: str = "slow to answer"
    """`slow to answer`: it works at the third attempt. `declines`: it does not."""
    pace: float = 0.4
    """Seconds that a step takes."""


@dataclass(frozen=True)
class Wait:
    seconds: float = 5.0


async def _act(pace: float) -> None:
    if (ledger := os.environ.get(LEDGER)) is not None:
        info = step_info()
        with open(ledger, "a") as file:  # noqa: ASYNC230 -- one short line
            file.write(f"{info.run_id} {info.path} {info.attempt}\n")
    await asyncio.sleep(pace)


@step
async def reserve(order: Order) -> str:
    await _act(order.pace)
    return f"hold for {order.customer}"


@step
async def release(undo: Undo) -> None:
    await asyncio.sleep(0.2)


@step
async def price(order: Order) -> int:
    await _act(order.pace)
    return 1_150 * len(order.items)


@step
async def tax(order: Order) -> int:
    await _act(2 * order.pace)
    return 21


@step(retry=Retry(max_attempts=5, first=0.4, factor=1.5))
async def charge(order: Order, cents: int) -> str:
    await _act(order.pace)
    if order.bank == "declines":
        raise CriticalError("the card was declined")  # a retry would not help
    if order.bank == "slow to answer" and step_info().attempt < 3:
        raise ConnectionError("the bank does not answer")
    return f"{cents} cents of {order.customer}"


@step
async def ship(item: str, pace: float) -> str:
    await _act(2 * pace)
    return f"{item} is on its way"


@workflow
async def order(ctx: Context, order: Order) -> list[str]:
    """Reserve, look up, ask, charge, ship; undone if it fails."""
    await ctx.step("reserve", reserve, order, rollback=release)
    found = await ctx.join(
        "lookup", price=lambda c: c.step("price", price, order), tax=lambda c: c.step("tax", tax, order)
    )
    await ctx.listen("yes")
    await ctx.step("charge", charge, order, found.price * (100 + found.tax) // 100)

    async def next_item(c: Context, sent: list[str]):
        if len(sent) == len(order.items):
            return Loop.break_(sent)
        parcel = await c.step("ship", ship, order.items[len(sent)], order.pace)
        return Loop.continue_([*sent, parcel])

    return await ctx.loop("items", next_item, state=list[str](), returns=list[str])


@workflow
async def expense(ctx: Context) -> str:
    """Waits for a person."""
    verdict = await ctx.approve("new_teapot", by="boss")
    return "buy it" if verdict.approved else "keep the old one"


@workflow
async def reminder(ctx: Context, wait: Wait) -> str:
    """Sleeps, be there an engine or not."""
    await ctx.sleep("nap", wait.seconds)
    return "tea time"
