"""The tea shop's catalog: an order again, as goals. Each step declares inputs and outputs; the plan follows from them.

Ask for `thank-customer` with `{"customer": "Ada", "items": [...]}`. Two quotes race; larger orders get a discount; a
manager (a workflow of the `code` dialect) is asked about expensive ones; every item is packed by itself; the delivery
is a flow of its own. The card of `customer: "Mallory"` is declined: the reservation is released.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, TypedDict

from plait import CriticalError, step_log
from plait.catalog import Input, Meta, catalog_step, python_step

_SECONDS = 0.2


class Item(TypedDict):
    sku: str
    cents: int


class Hold(TypedDict):
    hold: str


class Payment(TypedDict):
    payment: str


class Quote(TypedDict):
    quote: str


class Parcel(TypedDict):
    parcel: str


class Handed(TypedDict):
    tracking: str


class Letter(TypedDict):
    letter: str


# -- money and goods ---------------------------------------------------------------------------------------------------

add_up = (
    catalog_step("add-up", "Add up the items")
    .required("items", list)
    .output("goods", int)
    .ale("{:goods (reduce + 0 (map :cents items))}")
    .labels(team="sales")
)

discount = (
    catalog_step("discount", "Discount of larger orders")
    .required("goods", int)
    .output("discount", int)
    .when("ale", "(> goods 3000)")
    .ale("{:discount (if (> goods 10000) 1000 250)}")
    .labels(team="sales")
)

total = (
    catalog_step("total", "What is to be paid")
    .required("goods", int)
    .optional("discount", int, default=0, deadline=-1)
    .output("total", int)
    .lua("return {total = goods - discount}")
    .labels(team="sales")
)

ask_manager = (
    catalog_step("ask-manager", "Ask the manager about dear orders")
    .required("customer", str)
    .required("total", int)
    .output("approved_by", str)
    .when("ale", "(> total 10000)")
    .run("code", "approve_sale")
    .labels(team="sales")
)


async def give_back(input: dict[str, object], output: Hold) -> None:
    step_log(f"giving back {output['hold']}")
    await asyncio.sleep(_SECONDS)


@python_step(compensate=give_back, configure=lambda made: made.labels(team="stock"))
async def reserve_goods(items: list[Item], run: Annotated[str, Meta("flow_id")]) -> Hold:
    """Reserve the goods"""
    step_log(f"reserving items: {len(items)}")
    await asyncio.sleep(_SECONDS)
    return {"hold": f"hold-{run}"}


@python_step(configure=lambda made: made.retries(3, first=0.5).labels(team="pay"))
async def take_payment(
    customer: str,
    total: int,
    hold: str,
    approved_by: Annotated[str, Input(deadline=-1)] = "",
) -> Payment:
    """Take the payment"""
    await asyncio.sleep(_SECONDS)
    if customer == "Mallory":
        step_log("the bank says no", level="error")
        raise CriticalError("the card was declined")
    return {"payment": f"paid {total / 100:.2f}" + (f", approved by {approved_by}" if approved_by else "")}


# -- parcels -----------------------------------------------------------------------------------------------------------


@python_step(configure=lambda made: made.labels(team="delivery"))
async def quote_post() -> Quote:
    """Ask the post for a quote"""
    await asyncio.sleep(4 * _SECONDS)
    return {"quote": "by post, three days"}


@python_step(configure=lambda made: made.labels(team="delivery"))
async def quote_bike() -> Quote:
    """Ask the bike courier for a quote"""
    await asyncio.sleep(_SECONDS)
    return {"quote": "by bike, this evening"}


@python_step(configure=lambda made: made.parallel(2).labels(team="delivery"))
async def pack_item(items: Annotated[Item, Input(for_each=True)], payment: str) -> Parcel:
    """Pack each item"""
    await asyncio.sleep(_SECONDS)
    return {"parcel": f"a box with {items['sku']}"}


deliver = (
    catalog_step("deliver", "Deliver the parcels")
    .required("parcel")
    .required("quote", str)
    .required("customer", str)
    .output("delivery", str, inner="tracking")
    .flow("hand-over")
    .labels(team="delivery")
)

print_label = (
    catalog_step("print-label", "Print the address label")
    .required("customer", str)
    .output("address_label", str)
    .ale('{:address_label (str "To " customer)}')
    .labels(team="delivery")
)


@python_step(configure=lambda made: made.labels(team="delivery"))
async def hand_over(address_label: str, parcel: list[dict[str, object]] | str, quote: str) -> Handed:
    """Hand the parcels over"""
    await asyncio.sleep(_SECONDS)
    count = len(parcel) if isinstance(parcel, list) else 1
    return {"tracking": f"{count} parcels, {quote}: {address_label}"}


book_courier = (
    catalog_step("book-courier", "Book a courier, who answers later")
    .required("delivery", str)
    .output("pickup", str)
    .webhook("https://courier.example.com/bookings", callback_timeout=86_400)
    .labels(team="delivery")
)


@python_step(configure=lambda made: made.labels(team="sales"))
async def thank_customer(customer: str, payment: str, delivery: str) -> Letter:
    """Write a letter of thanks"""
    return {"letter": f"Dear {customer}, thank you! {payment}; {delivery}."}
