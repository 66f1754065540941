"""A time limit by the engine's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from plait.kernel.clock import Clock

T = TypeVar("T")


async def within(clock: Clock, seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Raises `TimeoutError`."""
    task = asyncio.ensure_future(work)
    late = False

    def stop() -> None:
        nonlocal late
        late = task.cancel()

    alarm = clock.call_later(max(0.0, seconds), stop)
    try:
        return await task
    except asyncio.CancelledError:
        if late:
            raise TimeoutError from None
        raise
    finally:
        alarm.cancel()
