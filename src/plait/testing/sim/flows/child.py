"""The workflow that `run` steps start: a run of another dialect."""

from __future__ import annotations

from typing import Any

from plait.dialects.code.context import Context
from plait.dialects.code.definition import workflow

SHOUT = "shout"


class Hoarse(Exception):
    """It can't shout, and never will."""


@workflow(name=SHOUT)
async def shout(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    """Returns the name that it is asked for."""
    await ctx.sleep("breathe", 1.0)
    if order["ends"] == "badly":
        raise Hoarse("no luck")
    return {order["gives"]: order["gives"].upper()}
