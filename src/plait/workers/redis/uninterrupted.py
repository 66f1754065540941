"""Work that must not stop half-way when the engine does: a task that is offered but not noted, a result that is
recorded but not removed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Whoever is cancelled meanwhile ends after it."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
