"""Time, as the kernel sees it: wall time in milliseconds for storage, and alarms. Tests inject another clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from .ids import Millis


class Alarm(Protocol):
    def cancel(self) -> object: ...


class Clock(Protocol):
    def now(self) -> Millis:
        """Wall time, UTC, in milliseconds. It may go back; code that needs order takes the larger of two."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for timeouts."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Alarm:
        """Calls back once this many seconds have passed. A hint to check again."""
        ...

    def call_at(self, due: Millis, callback: Callable[[], object]) -> Alarm:
        """Calls back at a wall time, or earlier: the callback compares with `now()` before it acts."""
        ...


_LONGEST = 0.5
"""Seconds between checks of the wall clock: it may jump forward during a wait, as when a machine wakes up."""


class SystemClock:
    def now(self) -> Millis:
        return time.time_ns() // 1_000_000  # pyright: ignore[reportReturnType]

    monotonic = staticmethod(time.monotonic)

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Alarm:
        return asyncio.get_running_loop().call_later(seconds, callback)

    def call_at(self, due: Millis, callback: Callable[[], object]) -> Alarm:
        wait = max(0.0, (due - self.now()) / 1000)
        return self.call_later(min(wait, _LONGEST), callback)


async def sleep(clock: Clock, seconds: float) -> None:
    """Sleeps by the given clock."""
    woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    clock.call_later(seconds, lambda: woken.done() or woken.set_result(None))
    await woken
