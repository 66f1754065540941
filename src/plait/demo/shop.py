"""A tea shop, to look at in the browser: things that move, wait, ask, fail, and can be repaired.

Nothing here needs a network; the bank, the supplier and the carrier are stand-ins in this file. To break something and
repair it: start `restock` (its supplier is closed), see it fail and leave a dead letter, start `supplier` with
`{"open": true}`, and retry the dead letter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from plait import Context, Loop, Retry, RollbackError, Undo, step, step_info, step_log, workflow


@dataclass(frozen=True)
class Item:
    sku: str
    cents: int = 450
    count: int = 1


@dataclass(frozen=True)
class Order:
    customer: str
    items: list[Item] = field(default_factory=lambda: [Item("green tea"), Item("pot", 3_900), Item("cup", 1_250, 2)])
    bank_failures: int = 2
    """How often the bank fails before it works, to show retries."""
    ask_above: int = 5_000
    """Cents above which a person is asked."""
    pace: float = 0.3
    """Seconds that a step takes."""


@dataclass(frozen=True)
class Terms:
    """What the manager fills in."""

    discount_percent: int = 0
    note: str = ""


# -- checkout: a bit of everything ---------------------------------------------------------------------------------


@step
async def reserve(order: Order) -> str:
    step_log(f"reserving for {order.customer}, items: {len(order.items)}")
    await asyncio.sleep(order.pace)
    return f"hold-{order.customer.lower().replace(' ', '-')}"


@step
async def release(undo: Undo) -> None:
    step_log(f"giving back {undo.output}")
    await asyncio.sleep(0.2)


@step
async def price(order: Order) -> int:
    await asyncio.sleep(order.pace)
    return sum(item.cents * item.count for item in order.items)


@step
async def tax_rate(order: Order) -> int:
    await asyncio.sleep(2 * order.pace)
    return 21


@step
async def score(order: Order) -> float:
    await asyncio.sleep(3 * order.pace)
    step_log("this customer pays on time", level="debug")
    return 0.03


@step(retry=Retry(max_attempts=5, first=0.5, factor=1.6))
async def charge(order: Order, cents: int) -> str:
    await asyncio.sleep(order.pace)
    attempt = step_info().attempt
    if attempt <= order.bank_failures:
        step_log(f"attempt {attempt}: the bank does not answer", level="warning")
        raise ConnectionError("the bank does not answer")
    step_log(f"took {cents / 100:.2f} from {order.customer}")
    return f"payment-{step_info().idempotency_key[-8:]}"


@step
async def refund(undo: Undo) -> None:
    step_log(f"giving back {undo.output}")
    await asyncio.sleep(0.2)


@step
async def ship(item: Item, pace: float) -> str:
    await asyncio.sleep(pace)
    return f"{item.count} × {item.sku} is on its way"


@workflow
async def thank(ctx: Context, customer: str) -> str:
    """Writes a letter of thanks; a run of its own."""

    async def write() -> str:
        await asyncio.sleep(0.3)
        return f"Dear {customer}, thank you!"

    return await ctx.step("write", write)


@workflow
async def checkout(ctx: Context, order: Order) -> dict[str, object]:
    """Reserve, look things up side by side, ask if it is dear, charge, ship one by one, say thanks."""
    hold = await ctx.step("reserve", reserve, order, rollback=release)
    found = await ctx.join(
        "look up",
        price=lambda c: c.step("price", price, order),
        tax=lambda c: c.step("tax", tax_rate, order),
        risk=lambda c: c.step("risk", score, order),
    )
    total = found.price * (100 + found.tax) // 100
    if total > order.ask_above:
        evidence = {"customer": order.customer, "total": total, "risk": found.risk, "hold": hold}
        title = f"Let {order.customer} pay {total / 100:.2f}?"
        verdict = await ctx.approve("manager", by="sales manager", title=title, form=Terms, evidence=evidence)
        if not verdict.approved:
            raise RollbackError(f"refused by {verdict.by or 'the manager'}: {verdict.comment or 'no reason given'}")
        total -= total * verdict.data.discount_percent // 100
    payment = await ctx.step("charge", charge, order, total, rollback=refund)

    async def next_item(c: Context, sent: list[str]):
        if len(sent) == len(order.items):
            return Loop.break_(sent)
        parcel = await c.step("ship", ship, order.items[len(sent)], order.pace)
        return Loop.continue_([*sent, parcel])

    parcels = await ctx.loop("parcels", next_item, state=list[str](), returns=list[str])
    letter = await ctx.child("thanks", thank, order.customer)
    return {"payment": payment, "total": total, "parcels": parcels, "letter": letter}


@dataclass(frozen=True)
class Sale:
    customer: str
    total: int


@workflow
async def approve_sale(ctx: Context, sale: Sale) -> dict[str, str]:
    """Asks the manager; a step of the catalog runs it for dear orders."""
    title = f"Let {sale.customer} pay {sale.total / 100:.2f}?"
    verdict = await ctx.approve("manager", by="sales manager", title=title, evidence=sale)
    if not verdict.approved:
        raise RollbackError(f"refused by {verdict.by or 'the manager'}: {verdict.comment or 'no reason given'}")
    return {"approved_by": verdict.by or "the manager"}


# -- something that breaks, and can be repaired --------------------------------------------------------------------


class Supplier:
    """Its telephone; only in this process."""

    open = False


@dataclass(frozen=True)
class Restock:
    sku: str = "green tea"
    count: int = 100


@step(retry=Retry(max_attempts=3, first=0.4, factor=2))
async def ask_supplier(order: Restock) -> str:
    await asyncio.sleep(0.3)
    if not Supplier.open:
        step_log("nobody picks up the phone", level="error")
        raise ConnectionError("the supplier is closed: start `supplier` with open=true, then retry")
    return f"{order.count} × {order.sku} ordered"


@workflow
async def restock(ctx: Context, order: Restock) -> str:
    """Asks a supplier, who is closed until someone starts `supplier` with open=true."""
    return await ctx.step("ask supplier", ask_supplier, order)


@dataclass(frozen=True)
class Opening:
    open: bool = True


@workflow
async def supplier(ctx: Context, opening: Opening) -> str:
    """Opens or closes the supplier that `restock` asks."""

    async def turn() -> str:
        Supplier.open = opening.open
        return "open" if opening.open else "closed"

    return await ctx.step("turn the sign", turn)


# -- things that take long -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shelves:
    count: int = 24
    pace: float = 0.2


@workflow
async def stocktaking(ctx: Context, shelves: Shelves) -> int:
    """Counts every shelf side by side: a wide run."""

    async def count() -> int:
        await asyncio.sleep(shelves.pace)
        return 7

    def shelf(number: int) -> Callable[[Context], Awaitable[int]]:
        return lambda c: c.step(f"count {number}", count)

    found = await ctx.join("shelves", **{f"shelf_{n}": shelf(n) for n in range(1, shelves.count + 1)})
    return sum(found.values())


@dataclass(frozen=True)
class Wait:
    minutes: float = 30


@workflow
async def reminder(ctx: Context, wait: Wait) -> str:
    """Sleeps, be there an engine or not."""
    await ctx.sleep("steep", 60 * wait.minutes)
    return "tea time"


@workflow
async def tasting(ctx: Context) -> list[object]:
    """Waits for messages: send `score` with any body, and `done` to end."""
    scores: list[object] = []
    while True:
        message = await ctx.listen(f"round {len(scores) + 1}", ["score", "done"])
        if message is None or message.name == "done":
            return scores
        scores.append(message.body)
