"""An order, as goals: steps that say what they need and what they give. Nobody writes down the order they run in.

Nothing here needs a network: the shop, the bank and the carrier are stand-ins in this file.

    plait run examples/order/goals.py:send_receipt --input @examples/order/goals.json
    plait plan send-receipt --input customer=Ada          # what would run, what is missing, and why

or, in one go:

    python -m examples.order.goals
"""

from __future__ import annotations

import asyncio
from typing import Annotated, TypedDict

from plait import CriticalError, Engine, goals
from plait.catalog import Input, Meta, catalog_step, python_step


class Item(TypedDict):
    sku: str
    price: int
    """In cents."""


class Held(TypedDict):
    hold: str


class Paid(TypedDict):
    payment: str


class Shipped(TypedDict):
    parcel: str


class Told(TypedDict):
    receipt: str


# -- steps in Python: parameters are inputs, the fields of what is returned are outputs --------------------------------


async def release(input: dict[str, object], output: Held) -> None:
    """Undoes `reserve`: gets what went in and what came out."""
    print(f"  released {output['hold']}")


@python_step(compensate=release)
async def reserve(items: list[Item], run: Annotated[str, Meta("flow_id")]) -> Held:
    """Reserve the goods."""
    if any(item["sku"] == "unicorn" for item in items):
        raise CriticalError("the warehouse has no unicorn")  # trying again can't help
    return {"hold": f"hold:{run}"}


async def refund(input: dict[str, object], output: Paid) -> None:
    print(f"  refunded {output['payment']}")


_attempts: dict[str, int] = {}


@python_step(compensate=refund, configure=lambda made: made.retries(5, first=0.05))
async def charge(
    customer: str,
    total: int,
    hold: str,
    token: Annotated[str, Meta("receipt_token")],
    flaky_bank: int = 0,
) -> Paid:
    """Charge the card.

    The token is the same on every attempt, so the bank charges once.
    """
    _attempts[token] = _attempts.get(token, 0) + 1
    if _attempts[token] <= flaky_bank:
        raise ConnectionError("the bank does not answer")
    return {"payment": f"pay:{customer}:{total}"}


@python_step(configure=lambda made: made.parallel(3))
def ship(items: Annotated[Item, Input(for_each=True)], payment: str) -> Shipped:
    """Ship each item.

    A plain function: it runs in a thread, so it may block.
    """
    return {"parcel": f"parcel:{items['sku']}"}


@python_step
async def send_receipt(
    customer: str,
    payment: str,
    parcel: list[dict[str, object]] | str,
    gift: Annotated[str, Input(deadline=-1)] = "",
) -> Told:
    """Write to the customer.

    Waits for a gift while one is being chosen, and does without otherwise.
    """
    sent = [str(each["parcel"]) for each in parcel] if isinstance(parcel, list) else [parcel]
    return {"receipt": f"Dear {customer}: {payment}, {', '.join(sent)}" + (f", and {gift}" if gift else "")}


# -- steps as scripts: for small things, checked when they are registered ----------------------------------------------

goods = (
    catalog_step("goods", "Add up the goods")
    .required("items", list)
    .output("goods", int)
    .ale("{:goods (reduce + (map :price items))}")
)

tax = (
    catalog_step("tax", "Look up the tax")
    .required("goods", int)
    .optional("country", str, default="NL")
    .output("tax", int)
    .lua("local rate = ({NL = 21, DE = 19})[country] or 0\nreturn {tax = goods * rate // 100}")
)

total = (
    catalog_step("total", "What is to be paid")
    .required("goods")
    .required("tax")
    .output("total", int)
    .ale("{:total (+ goods tax)}")
)

gift = (
    catalog_step("gift", "Choose a gift")
    .required("goods")
    .output("gift", str)
    .when("ale", "(> goods 3000)")  # else it is skipped, and the receipt goes out without it
    .ale('{:gift "a tin of biscuits"}')
)

STEPS = [reserve, charge, ship, send_receipt, goods, tax, total, gift]
TEA = {"customer": "Ada", "items": [{"sku": "tea", "price": 450}, {"sku": "pot", "price": 2_900}], "flaky_bank": 2}


async def main() -> None:
    async with Engine("sqlite:///order-goals.db", definitions=STEPS) as engine:
        plan = await engine.plan(goals("send-receipt"), TEA)
        print("planned:", ", ".join(plan.body["steps"]))
        handle = await engine.start(goals("send-receipt"), TEA)
        print((await handle.result())["receipt"])


if __name__ == "__main__":
    asyncio.run(main())
