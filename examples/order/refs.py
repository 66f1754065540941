"""An order, as JSON steps that are wired by references: the order of the steps follows from what they read.

Nothing here needs a network: the shop, the bank and the carrier are stand-ins in this file.

    plait run examples/order/refs.py:order --id r-1 --input @examples/order/tea.json
    plait show r-1                       # every step, what it got and what it gave

or, in one go:

    python -m examples.order.refs
"""

from __future__ import annotations

import asyncio
from typing import Any

from plait import CriticalError, Engine, refs, step, step_info

Item = dict[str, Any]


@step(name="reserve")
async def reserve(items: list[Item]) -> dict[str, Any]:
    """Reserve the goods."""
    if any(item["sku"] == "unicorn" for item in items):
        raise CriticalError("the warehouse has no unicorn")  # trying again can't help
    return {"hold": "hold-1", "total": sum(item["price"] for item in items), "items": items}


@step(name="release")
async def release(hold: str) -> None:
    """Give the goods back."""


@step(name="tax")
async def tax(total: int, country: str = "DE") -> dict[str, int]:
    return {"tax": round(total * (0.19 if country == "DE" else 0.21))}


@step(name="charge")
async def charge(total: int, tax: int, flaky_bank: int = 0) -> dict[str, str]:
    """The bank does not answer the first few times."""
    if step_info().attempt <= flaky_bank:
        raise ConnectionError("the bank does not answer")
    return {"receipt": f"paid {(total + tax) / 100:.2f}"}


@step(name="ship")
async def ship(sku: str) -> str:
    return f"{sku} is on its way"


order = refs(
    {
        "id": "order",
        "title": "An order",
        "steps": [
            {
                "name": "reserve",
                "action": {"function": "reserve"},
                "input": {"items": "@input.items"},
                "compensate": {"action": {"function": "release"}, "input": {"hold": "@reserve.hold"}},
            },
            {
                "name": "too_much",
                "when": {"ref": "@reserve.total", "gt": 100_000},
                "action": {"return": True},
                "input": {"rejected": "@{reserve.total} cents are too risky"},
            },
            {
                "name": "tax",
                "action": {"function": "tax"},
                "input": {"total": "@reserve.total", "country": "@input.country"},
            },
            {
                "name": "charge",
                "action": {"function": "charge"},
                "input": {
                    "total": "@reserve.total",
                    "tax": "@tax.tax",
                    "flaky_bank": "@input.flaky_bank",
                },
                "config": {"maxAttempts": 5, "backoffMs": 100},
            },
            {
                "name": "ship",
                "action": {"function": "ship"},
                "forEach": {"ref": "@reserve.items", "concurrency": 3},
                "input": {"sku": "@item.sku"},
                "dependsOn": ["charge"],
            },
            {
                "name": "done",
                "action": {"return": True},
                "input": {"receipt": "@charge.receipt", "shipped": "@ship"},
            },
        ],
    }
)


async def main() -> None:
    functions = [reserve, release, tax, charge, ship]
    given = {"items": [{"sku": "tea", "price": 450}, {"sku": "pot", "price": 2900}], "flaky_bank": 1}
    async with Engine("memory:", definitions=[order, *functions]) as engine:
        handle = await engine.start(order, given)
        print(await handle.result())


if __name__ == "__main__":
    asyncio.run(main())
