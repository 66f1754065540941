"""An order, as a durable Python function: reserve, look things up, ask, pay, ship; and undo it all if need be.

Nothing here needs a network: the shop, the bank and the carrier are stand-ins in this file.

    plait run examples/order/code.py:order --id o-1 --input @examples/order/tea.json
    plait message o-1 yes                  # in another terminal: it has asked whether to go on

or, in one go, with the answer given by the program itself:

    python -m examples.order.code
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from plait import Context, CriticalError, Engine, Loop, RollbackError, Undo, step, step_info, workflow


@dataclass(frozen=True)
class Item:
    sku: str
    price: int
    """In cents."""


@dataclass(frozen=True)
class Order:
    customer: str
    items: list[Item]
    country: str = "NL"
    flaky_bank: int = 0
    """How many times the bank is out of order before it works: to watch retries."""
    answer_within: float = 86_400
    """Seconds to wait for the customer's yes or no."""


@dataclass(frozen=True)
class Hold:
    id: str
    skus: list[str]


@dataclass(frozen=True)
class Receipt:
    customer: str
    hold: str
    goods: int
    tax: int
    payment: str
    parcels: list[str]


# -- steps: what touches the world. Each may run more than once, so each passes on its idempotency key ----------------


@step(max_attempts=5)
async def reserve(order: Order) -> Hold:
    if any(item.sku == "unicorn" for item in order.items):
        raise CriticalError("the warehouse has no unicorn")  # trying again can't help
    return Hold(f"hold:{step_info().run_id}", [item.sku for item in order.items])


@step
async def release(undo: Undo) -> None:
    """Undoes `reserve`. A named step, so it can run even when the workflow's code has changed."""
    print(f"  released {undo.output.id}")


@step
async def get_tax(country: str, goods: int) -> int:
    return goods * {"NL": 21, "DE": 19}.get(country, 0) // 100


@step(max_attempts=5)
async def charge(customer: str, cents: int, flaky: int) -> str:
    info = step_info()
    if info.attempt <= flaky:
        raise ConnectionError("the bank does not answer")
    return f"pay:{info.idempotency_key}:{cents}"  # the bank sees the same key on every attempt: it charges once


@step
async def refund(undo: Undo) -> None:
    print(f"  refunded {undo.output}")


@step
def ship_item(item: Item) -> str:
    """A plain function: it runs in a thread, so it may block."""
    return f"parcel:{step_info().run_id}:{item.sku}"


# -- the workflows ----------------------------------------------------------------------------------------------------


@workflow
async def risk(ctx: Context, order: Order) -> str:
    """A run of its own: seen, retried and cancelled by itself."""
    total = sum(item.price for item in order.items)
    return await ctx.step("score", lambda: "high" if total > 100_000 else "low", returns=str)


@workflow
async def order(ctx: Context, order: Order) -> Receipt:
    hold = await ctx.step("reserve", reserve, order, rollback=release)

    goods = sum(item.price for item in order.items)
    info = await ctx.join(
        "lookup",
        tax=lambda c: c.step("tax", get_tax, order.country, goods),
        risk=lambda c: c.child("risk", risk, order),
    )
    if info.risk == "high":
        raise RollbackError("the risk is too high")  # undoes what was done, newest first

    won = await ctx.race(
        "decision",
        answer=lambda c: c.listen("answer", ["yes", "no"]),
        expired=lambda c: c.sleep("wait", order.answer_within),
    )
    if won.winner == "expired" or won.value.name == "no":
        raise RollbackError("not approved")

    payment = await ctx.step("charge", charge, order.customer, goods + info.tax, order.flaky_bank, rollback=refund)

    async def ship(c: Context, parcels: list[str]):
        if len(parcels) == len(order.items):
            return Loop.break_(parcels)
        parcel = await c.step("ship", ship_item, order.items[len(parcels)])
        return Loop.continue_([*parcels, parcel])

    parcels = await ctx.loop("items", ship, state=list[str](), returns=list[str])
    return Receipt(order.customer, hold.id, goods, info.tax, payment, parcels)


async def main() -> None:
    tea = Order("Ada", [Item("tea", 450), Item("pot", 2_900)], flaky_bank=2)
    async with Engine("sqlite:///order.db", definitions=[order, risk]) as engine:
        handle = await engine.start(order, tea)
        await handle.message("yes")
        print(await handle.result())


if __name__ == "__main__":
    asyncio.run(main())
