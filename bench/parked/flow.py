"""The run that waits: for a message, or for its time."""

from __future__ import annotations

from plait import Context, workflow

YEAR = 365 * 86_400
TIMED_OUT = -1


@workflow
async def parked(ctx: Context, seconds: float) -> int:
    """The number that the message brings, or that its time was up."""
    message = await ctx.listen("number", "number", type=int, timeout=seconds)
    return TIMED_OUT if message is None else message.body
