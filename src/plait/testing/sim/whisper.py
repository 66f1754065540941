"""The workflow that runs of other dialects start as a child."""

from __future__ import annotations

from typing import Any

from plait.dialects.code.context import Context
from plait.dialects.code.definition import workflow

WHISPER = "whisper"


@workflow(name=WHISPER)
async def whisper(ctx: Context, heard: Any) -> str:
    await ctx.sleep("breathe", 1.0)
    return "whispered"
