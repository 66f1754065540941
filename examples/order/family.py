"""The order once more, made of the other four: each event of the AFL program is a run of another dialect.

    python -m examples.order.family

The warehouse is a workflow of references, the tax a goal, the bank code, and the carrier a graph. Every one of them is
a run of its own, with its own history; cancel the order, and all of them end.
"""

from __future__ import annotations

import asyncio
from typing import Any

from plait import Context, Engine, afl, goals, graph, handler, refs, step, workflow
from plait.catalog import catalog_step
from plait.dialects.afl.handlers import child

SOURCE = """
namespace shop {
    event facet Reserve(items: Json) => (hold: String, total: Long)
    event facet Tax(total: Long) => (amount: Long)
    event facet Charge(amount: Long) => (receipt: String)
    event facet Ship(items: Json, receipt: String) => (carrier: Json)

    workflow Order(items: Json) => (receipt: String, shipped: Json) andThen {
        reserved = Reserve(items = $.items)
        taxed = Tax(total = reserved.total)
        paid = Charge(amount = taxed.amount)
        sent = Ship(items = $.items, receipt = paid.receipt)
        yield Order(receipt = paid.receipt, shipped = sent.carrier)
    }
}
"""


@step(name="stock")
async def stock(items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"hold": "hold-1", "total": sum(item["price"] for item in items)}


@step(name="add-tax")
async def add_tax(total: int) -> dict[str, int]:
    return {"amount": total + round(total * 0.19)}


@workflow(name="bank")
async def bank(ctx: Context, given: dict[str, Any]) -> dict[str, str]:
    return await ctx.step("pay", pay, given["amount"])


async def pay(amount: int) -> dict[str, str]:
    return {"receipt": f"paid {amount / 100:.2f}"}


@handler("carrier")
async def carrier(payload: dict[str, Any]) -> list[str]:
    return [f"{item['sku']} is on its way" for item in payload["items"]]


tax = catalog_step("tax").required("total", int).output("amount", int).python("add-tax")
warehouse = refs(
    {
        "id": "warehouse",
        "steps": [{"name": "stock", "action": {"function": "stock"}, "input": {"items": "@input.items"}}],
    }
)
shipping = graph(
    {"name": "shipping", "nodes": [{"id": "carrier", "type": "task", "config": {"handler": "carrier"}}], "edges": []}
)

order = afl(
    SOURCE,
    "shop.Order",
    handlers={
        "Reserve": child(warehouse),
        "Tax": child(goals("tax")),
        "Charge": child("bank"),
        "Ship": child(shipping),
    },
)


async def main() -> None:
    given = {"items": [{"sku": "tea", "price": 450}, {"sku": "pot", "price": 2900}]}
    async with Engine("memory:", definitions=[bank, stock, add_tax, tax, carrier]) as engine:
        handle = await engine.start(order, given)
        print(await handle.result())
        for run in await engine.runs():
            print(f"{run.dialect}: {run.definition} {run.status}")


if __name__ == "__main__":
    asyncio.run(main())
