"""Time, as the kernel sees it: wall time in ms to store, and a way to be woken. Tests inject another."""

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
        """Wall time, UTC. It may be set back; who needs order takes the larger of two."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for timeouts."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Alarm:
        """A hint to look again, once so many seconds have passed."""
        ...

    def call_at(self, due: Millis, callback: Callable[[], object]) -> Alarm:
        """A hint to look again, at a wall time, or earlier: whoever is woken compares with `now()` before acting."""
        ...


_LONGEST = 0.5
"""Seconds between looks at the wall clock: it may be set forward while we wait, as it is when a machine wakes up."""


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
    """By that clock."""
    woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    clock.call_later(seconds, lambda: woken.done() or woken.set_result(None))
    await woken
