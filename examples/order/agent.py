"""An order that an agent looks at first: it adds up what the customer bought, looks up a rate, has a card sent along,
and asks a person before it grants a discount. Nothing here needs a key or a network: the model is scripted.

    python -m examples.order.agent

To see it with a real model, name one `fast` in the file of PLAIT_MODELS and leave `models` out of the engine.
"""

from __future__ import annotations

import asyncio
from typing import Any

from plait import Engine, graph
from plait.agents import tool
from plait.testing import ScriptedModel

RATES = {"USD": 1.1, "CHF": 0.95}


@tool
def lookup_rate(currency: str) -> float:
    """Today's rate of a currency against the euro."""
    return RATES[currency]


@tool(needs_approval=True)
def grant_discount(percent: int, key: str) -> str:
    """Gives the customer a discount on this order. A person has to agree."""
    return f"{percent} % granted ({key})"


order = graph(
    {
        "name": "qualified_order",
        "nodes": [
            {
                "id": "qualify",
                "type": "agent",
                "config": {
                    "prompt": "Is this a good customer? Reward good ones, and send a card along.",
                    "output_schema": {
                        "type": "object",
                        "properties": {"spent_eur": {"type": "number"}, "discount": {"type": "integer"}},
                        "required": ["spent_eur", "discount"],
                    },
                },
                "agent_config": {
                    "model": "fast",
                    "available_tools": ["execute_pipeline", "lookup_rate", "patch_workflow", "grant_discount"],
                    "budget": {"max_tokens": 200_000},
                },
                "branch": {"type": "agent_driven", "available_next_nodes": ["ship", "refuse"], "default": ["refuse"]},
            },
            {"id": "ship", "type": "transform", "config": {"output": {"shipped": True, "terms": "$payload"}}},
            {"id": "refuse", "type": "transform", "config": {"output": {"shipped": False}}},
        ],
        "edges": [],
    }
)

_CARD = {"id": "card", "type": "transform", "config": {"output": "a card, with thanks"}}
SCRIPT: dict[str, list[Any]] = {
    "qualify": [
        {
            "tool": "execute_pipeline",
            "args": {
                "pipeline": [
                    {"step": "jq_transform", "query": ".history"},
                    {"step": "groupby", "by": "currency", "agg": "sum", "field": "amount"},
                ]
            },
        },
        {"tool": "lookup_rate", "args": {"currency": "USD"}},
        {
            "tool": "patch_workflow",
            "args": {
                "workflow_tag": "qualified_order",
                "patch_spec": {
                    "operations": [
                        {"op": "add", "path": "/nodes/-", "value": _CARD},
                        {"op": "add", "path": "/edges/-", "value": {"from": "ship", "to": "card"}},
                    ],
                    "description": "A card for a good customer",
                },
            },
        },
        {"tool": "grant_discount", "args": {"percent": 10}},
        {
            "output": {"spent_eur": 1_000, "discount": 10},
            "next_nodes": ["ship"],
            "reasoning": "1,100 USD at 1.1 are 1,000 EUR, and a person agreed to the discount.",
        },
    ]
}
CUSTOMER = {
    "name": "Ada",
    "history": [{"currency": "USD", "amount": 700}, {"currency": "USD", "amount": 400}],
}


async def main() -> None:
    tools = [lookup_rate, grant_discount]
    async with Engine("memory:", definitions=[order, *tools], models={"fast": ScriptedModel(SCRIPT)}) as engine:
        handle = await engine.start(order, CUSTOMER)
        async for events in handle.follow():
            if any(event.type == "task.suspended" for event in events):
                break
        [asked] = await engine.approvals.list()
        print(f"  {asked.title}: approved")
        await engine.approvals.decide(asked.id, "approve", by="manager")
        print(f"  {await handle.result()}")
        [record] = (await handle.agents()).agents
        for turn in record.turns:
            calls = ", ".join(call.tool for call in turn.tool_calls) or "the answer"
            print(f"  turn {turn.turn}: {calls}, {turn.usage.input + turn.usage.output:,} tokens")


if __name__ == "__main__":
    asyncio.run(main())
