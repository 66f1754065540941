"""A newsletter, as JSON steps wired by references: a step runs when everything it reads is there."""

from __future__ import annotations

import asyncio

from plait import refs, step


@step(name="choose-tea")
async def choose_tea(season: str = "winter") -> dict[str, str]:
    await asyncio.sleep(0.3)
    return {"tea": "oolong" if season == "winter" else "sencha"}


@step(name="write-newsletter")
async def write_newsletter(tea: str) -> dict[str, str]:
    await asyncio.sleep(0.4)
    return {"text": f"This month: {tea}, for those who know."}


@step(name="send-newsletter")
async def send_newsletter(to: str, text: str) -> str:
    await asyncio.sleep(0.2)
    if "@" not in to:
        raise ValueError(f"{to} is not an address")
    return f"sent to {to}"


newsletter = refs(
    {
        "id": "newsletter",
        "title": "A newsletter to every reader; one who can't be reached stops nobody else.",
        "steps": [
            {"name": "choose", "action": {"function": "choose-tea"}, "input": {"season": "@input.season"}},
            {"name": "write", "action": {"function": "write-newsletter"}, "input": {"tea": "@choose.tea"}},
            {
                "name": "send",
                "action": {"function": "send-newsletter"},
                "forEach": {"ref": "@input.readers", "concurrency": 2},
                "input": {"to": "@item", "text": "@write.text"},
                "config": {"onError": "continue", "maxAttempts": 1},
            },
        ],
    }
)
