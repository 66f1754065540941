"""Work that must not stop half-way when the engine does: an offer that is not noted yet, a result that is recorded but
not removed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Runs the work to its end, even if the caller is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
