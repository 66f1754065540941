"""Returned goods, as a graph: someone inspects them, the manager decides on expensive ones, the money is paid back."""

from __future__ import annotations

import asyncio
from typing import Any

from plait import graph, handler

Parcel = dict[str, Any]


@handler
async def inspect(parcel: Parcel) -> Parcel:
    """Look at what came back."""
    await asyncio.sleep(0.4)
    return {**parcel, "worth": 0 if parcel.get("broken") else parcel["cents"]}


@handler
async def pay_back(parcel: Parcel) -> Parcel:
    """Ask the bank; it may not answer at once, and then it is asked again: that is the loop of this node."""
    await asyncio.sleep(0.4)
    asked = parcel.get("asked", 0) + 1
    return {**parcel, "asked": asked, "status": 503 if asked <= parcel.get("bank_failures", 0) else 200}


@handler
async def write_letter(parcel: Parcel) -> dict[str, str]:
    await asyncio.sleep(0.3)
    told = f"{parcel['worth'] / 100:.2f} are on their way" if parcel.get("status") == 200 else "we can't take it back"
    return {"letter": f"Dear {parcel['customer']}, {told}."}


take_back = graph(
    {
        "name": "take-back",
        "metadata": {"description": "Goods that come back: looked at, approved if dear, paid back or refused."},
        "nodes": [
            {"id": "inspect", "name": "Look at the goods", "type": "task"},
            {
                "id": "judge",
                "name": "Worth something?",
                "type": "decision",
                "branch": {
                    "type": "conditional",
                    "rules": [
                        {"condition": "output.worth == 0", "next_nodes": ["write_letter"]},
                        {"condition": "output.worth > 5000", "next_nodes": ["manager"]},
                    ],
                    "default": ["pay_back"],
                },
            },
            {
                "id": "manager",
                "name": "Ask the manager",
                "type": "human",
                "human_config": {"title": "Pay this customer back?", "timeout_hours": 24},
                "rejection_path": ["write_letter"],
            },
            {
                "id": "pay_back",
                "name": "Pay back",
                "type": "task",
                "wait_for_all": False,
                "loop": {
                    "condition": "output.status != 200",
                    "max_iterations": 5,
                    "break_path": ["write_letter"],
                    "timeout_path": ["write_letter"],
                },
            },
            {"id": "write_letter", "name": "Write a letter", "type": "task", "wait_for_all": False},
        ],
        "edges": [{"from": "inspect", "to": "judge"}, {"from": "manager", "to": "pay_back"}],
    }
)
