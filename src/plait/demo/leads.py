"""A customer qualified by an agent: scripted, unless a model named `demo` is configured.

The script computes, looks a rate up, and asks a person before it grants a discount.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from plait import graph
from plait.agents import tool
from plait.agents.model import Model

MODEL = "demo"
_RATES = {"USD": 1.1, "CHF": 0.95}


@tool
async def lookup_rate(currency: str) -> float:
    """Today's rate of a currency against the euro."""
    await asyncio.sleep(0.4)
    return _RATES.get(currency, 1.0)


@tool(needs_approval=True)
def grant_discount(percent: int) -> str:
    """Gives the customer a discount. A person has to agree."""
    return f"{percent} % granted"


qualify_customer = graph(
    {
        "name": "qualify_customer",
        "nodes": [
            {
                "id": "qualify",
                "type": "agent",
                "name": "Qualify the customer",
                "config": {
                    "prompt": "How much has this customer spent in EUR? Offer 10 % to those above 500, and send "
                    "those to sales. Give the sum as `spent_eur`.",
                    "instructions": "You work for a tea shop. Be brief and polite.",
                },
                "agent_config": {
                    "model": MODEL,
                    "available_tools": ["execute_pipeline", "lookup_rate", "grant_discount"],
                    "budget": {"max_tokens": 200_000},
                },
                "branch": {
                    "type": "agent_driven",
                    "available_next_nodes": ["sales", "newsletter"],
                    "default": ["newsletter"],
                },
            },
            {"id": "sales", "type": "transform", "config": {"output": {"call": "$input.customer"}}},
            {"id": "newsletter", "type": "transform", "config": {"output": {"subscribe": "$input.customer"}}},
        ],
    }
)

_SCRIPT: dict[str, list[Any]] = {
    "qualify": [
        {
            "tool": "execute_pipeline",
            "args": {
                "pipeline": [
                    {"step": "jq_transform", "query": ".orders"},
                    {"step": "groupby", "by": "currency", "agg": "sum", "field": "amount"},
                ]
            },
        },
        [{"tool": "lookup_rate", "args": {"currency": "USD"}}, {"tool": "lookup_rate", "args": {"currency": "CHF"}}],
        {"tool": "grant_discount", "args": {"percent": 10}},
        {
            "output": {"spent_eur": 780, "text": "A good customer: 10 % for the next order."},
            "next_nodes": ["sales"],
            "reasoning": "660 USD and 171 CHF are 780 EUR, which is above 500.",
        },
    ]
}
CUSTOMER = {
    "customer": "Ada",
    "orders": [
        {"sku": "samovar", "currency": "USD", "amount": 510},
        {"sku": "pot", "currency": "CHF", "amount": 171},
        {"sku": "tea", "currency": "USD", "amount": 150},
    ],
}


def models() -> Mapping[str, Model]:
    """The scripted model, unless the operator has one of that name."""
    from plait.testing import ScriptedModel

    if os.environ.get("PLAIT_MODELS"):
        from plait.agents.providers.settings import configured

        if MODEL in configured(os.environ).models:
            return {}
    return {MODEL: ScriptedModel(_SCRIPT, repeat_last=True)}
