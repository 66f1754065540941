"""An order, as a graph: nodes, edges, a person who approves, and a loop that asks the bank again.

Nothing here needs a network: the shop, the bank and the carrier are stand-ins in this file.

    plait run examples/order/graph.py:order --id n-1 --input @examples/order/tea.json
    plait approvals                      # in another terminal: what waits for a person
    plait approve ID                     # or --reject: then the goods are released

or, in one go:

    python -m examples.order.graph
"""

from __future__ import annotations

import asyncio
from typing import Any

from plait import CriticalError, Engine, graph, handler
from plait.dialects.graph.handlers import NodeContext

Order = dict[str, Any]


@handler
async def reserve(order: Order, ctx: NodeContext) -> Order:
    """Reserve the goods."""
    if any(item["sku"] == "unicorn" for item in order["items"]):
        raise CriticalError("the warehouse has no unicorn")  # trying again can't help
    return {**order, "hold": f"hold:{ctx.run_id}", "total": sum(item["price"] for item in order["items"])}


@handler
async def release(payload: Order) -> Order:
    """The order is refused, or failed: the goods go back. As a compensator it gets what `reserve` got and gave."""
    hold = payload["output"]["hold"] if "output" in payload else payload["hold"]
    print(f"  released {hold}")
    return {"released": hold}


@handler
async def charge(order: Order, ctx: NodeContext) -> Order:
    """Ask the bank; it may not answer at once, and then it is asked again: that is the loop of this node."""
    asked = order.get("asked", 0) + 1
    return {**order, "asked": asked, "status": 503 if asked <= order.get("flaky_bank", 0) else 200}


@handler
async def ship(order: Order, ctx: NodeContext) -> Order:
    return {"customer": order["customer"], "parcels": [f"parcel:{ctx.run_id}:{item['sku']}" for item in order["items"]]}


@handler
async def write_off(order: Order) -> Order:
    return {"customer": order["customer"], "unpaid": order["total"]}


order = graph(
    {
        "name": "order",
        "nodes": [
            {"id": "reserve", "type": "task", "compensator": {"action": "release"}},
            {
                "id": "check",
                "type": "decision",
                "branch": {
                    "type": "conditional",
                    "rules": [{"condition": "output.total > 100", "next_nodes": ["approve"]}],
                    "default": ["charge"],
                },
            },
            {
                "id": "approve",
                "type": "human",
                "human_config": {"title": "Ship this order?", "timeout_hours": 24},
                "rejection_path": ["release"],
            },
            {
                "id": "charge",
                "type": "task",
                "wait_for_all": False,
                "loop": {
                    "condition": "output.status != 200",
                    "max_iterations": 5,
                    "break_path": ["ship"],
                    "timeout_path": ["write_off"],
                },
            },
            {"id": "ship", "type": "task"},
            {"id": "write_off", "type": "task"},
            {"id": "release", "type": "task"},
        ],
        "edges": [{"from": "reserve", "to": "check"}, {"from": "approve", "to": "charge"}],
        "on_failure": "compensate",
    }
)


async def main() -> None:
    tea = {"customer": "Ada", "items": [{"sku": "tea", "price": 450}, {"sku": "pot", "price": 3200}], "flaky_bank": 2}
    async with Engine("memory:", definitions=[reserve, release, charge, ship, write_off]) as engine:
        run = await engine.start(order, tea, id="n-1")
        async for _ in run.follow():
            if waiting := await engine.approvals.list():
                print(f"approved: {waiting[0].title}")
                await engine.approvals.decide(waiting[0].id, "approve", by="Grace")
                break
        print(await run.result())


if __name__ == "__main__":
    asyncio.run(main())
