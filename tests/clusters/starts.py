"""What the gated step of these tests noted each time it began: its process, and its idempotency key."""

import asyncio
from collections.abc import Callable
from pathlib import Path

_PATIENCE = 90.0
"""Seconds: processes of a cluster start slowly on a machine that others use."""


async def started(folder: Path, times: int = 1) -> list[list[str]]:
    """When it has begun that often."""
    file = folder / "started"
    await eventually(lambda: file.exists() and file.read_text().count("\n") >= times)
    return [line.split() for line in file.read_text().splitlines()]


async def eventually(condition: Callable[[], bool]) -> None:
    """Of what other processes do."""
    async with asyncio.timeout(_PATIENCE):
        while not condition():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
