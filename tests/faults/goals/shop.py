"""An order as goals, with steps of every kind: what the engine processes of these tests run under load.

order ─┬─ price (sync) ─── tax (python, in a thread)
       ├─ stock (async) ── label (ale) ── stamp (lua)
       └─ parts (python) ─ weigh (sync, for each part)          all of them ── invoice (python)
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from plait.catalog import Meta, StepBuilder, catalog_step, python_step

from .ledger import Entry, Ledger

if TYPE_CHECKING:  # the engine's process starts faster without it
    from .services import StepService

LEDGER = "PLAIT_TEST_GOALS_LEDGER"
GOAL = "invoice"
PARTS = 3
STEPS_IN_LEDGER = ("invoice", "parts", "price", "stock", "tax", "weigh")
ITEMS = len(STEPS_IN_LEDGER) - 1 + PARTS
"""Pieces of work of one order that the ledger knows; scripts can't write there."""

Flow = Annotated[str, Meta("flow_id")]
Token = Annotated[str, Meta("receipt_token")]


class Parts(TypedDict):
    parts: list[int]


class Tax(TypedDict):
    tax: int


class Invoice(TypedDict):
    total: int


class Receipt(TypedDict):
    receipt: int


def note(step: str, flow: str, token: str, body: Any, *, undo: bool = False) -> None:
    """A Python step began."""
    Ledger(Path(os.environ[LEDGER])).write(Entry("called", step, flow, token, token, body, undo=undo))


@python_step
def tax(price: int, flow: Flow, token: Token) -> Tax:
    note("tax", flow, token, price)
    return {"tax": price * 2}


@python_step
async def parts(order: int, flow: Flow, token: Token) -> Parts:
    note("parts", flow, token, order)
    await asyncio.sleep(0)
    return {"parts": [order + number for number in range(PARTS)]}


@python_step
async def invoice(tax: int, stamp: int, weight: list[dict[str, int]], flow: Flow, token: Token) -> Invoice:
    note("invoice", flow, token, [tax, stamp, weight])
    return {"total": tax + stamp + sum(each["weight"] for each in weight)}


async def refund(input: dict[str, Any], output: dict[str, Any]) -> None:
    note("charge", input["flow"], input["token"], output, undo=True)


@python_step(compensate=refund)
async def charge(order: int, flow: Flow, token: Token) -> Receipt:
    note("charge", flow, token, order)
    return {"receipt": order}


DEFINITIONS = [tax, parts, invoice, charge]


def called(service: StepService) -> list[StepBuilder]:
    """The steps that are no functions of ours. The first call for a price fails."""
    price = catalog_step("price").required("order", int).output("price", int)
    stock = catalog_step("stock").required("order", int).output("stock", int)
    weigh = catalog_step("weigh").required("parts", list, for_each=True).output("weight")
    return [
        _patient(price.sync(service.work("500 answer", gives="price"), timeout=10)),
        _patient(stock.webhook(service.work("accept,callback", gives="stock"), timeout=10, callback_timeout=3)),
        _patient(weigh.sync(service.work(gives="weight"), timeout=10)).parallel(2),
        catalog_step("label").required("stock", int).output("label", int).ale("{:label (* stock 10)}"),
        catalog_step("stamp").required("label", int).output("stamp", int).lua("return {stamp = label + 1}"),
    ]


def _patient(step: StepBuilder) -> StepBuilder:
    """Its service may be away for a while."""
    return step.retries(-1, first=0.05, cap=0.2)


def total(order: int) -> int:
    """What the invoice of an order must say."""
    weight = sum(order + number + 1 for number in range(PARTS))
    return 2 * (order + 1) + (10 * (order + 1) + 1) + weight
