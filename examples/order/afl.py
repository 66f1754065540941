"""An order in AFL: the flow is a program, and whoever has the functions does its events.

Nothing here needs a network: the shop, the bank and the carrier are stand-ins in this file.

    plait afl run examples/order/order.afl shop.Order --handlers examples/order/afl.py -i @examples/order/tea.json

or, in one go:

    python -m examples.order.afl
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from plait import CriticalError, Engine, afl

Payload = dict[str, Any]


async def reserve(payload: Payload) -> Payload:
    """Reserve the goods."""
    items = payload["items"]
    if any(item["sku"] == "unicorn" for item in items):
        raise CriticalError("the warehouse has no unicorn")  # trying again can't help
    return {"hold": "hold-1", "total": sum(item["price"] for item in items)}


async def release(payload: Payload) -> None:
    """Give the goods back: gets what was asked, and what came of it."""
    print(f"released {payload['result']['hold']}")


async def charge(payload: Payload, ctx: Any) -> Payload:
    """The bank does not answer the first few times."""
    if ctx.attempt <= (payload.get("flaky_bank") or 0):
        raise ConnectionError("the bank does not answer")
    return {"receipt": f"paid {payload['amount'] / 100:.2f}"}


async def ship(payload: Payload) -> Payload:
    return {"parcel": f"{payload['sku']} is on its way"}


HANDLERS = {"Reserve": reserve, "Release": release, "Charge": charge, "Ship": ship}
"""For `plait afl run --handlers`."""

order = afl(Path(__file__).with_name("order.afl"), "shop.Order")


async def main() -> None:
    given = {"items": [{"sku": "tea", "price": 450}, {"sku": "pot", "price": 2900}], "flaky_bank": 1}
    async with Engine("memory:") as engine:
        engine.afl.handler("Reserve", reserve, compensate="shop.Release")
        engine.afl.handler("Release", release)
        engine.afl.handler("Charge", charge)
        engine.afl.handler("Ship", ship)
        handle = await engine.start(order, given)
        print(await handle.result())


if __name__ == "__main__":
    asyncio.run(main())
