"""Limits of starts per minute in a namespace, if its operators set any. Each process counts by itself."""

from __future__ import annotations

from collections import deque
from math import ceil

from plait.kernel.clock import Clock
from plait.kernel.errors import Busy

_WINDOW = 60_000


class StartRates:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started: dict[tuple[str, str], deque[int]] = {}
        """Start times, oldest first, by namespace and group."""

    def take(self, namespace: str, rate: tuple[str, int] | None) -> None:
        """Counts a start, or refuses it."""
        if rate is None:
            return
        what, most = rate
        now, started = self._clock.now(), self._started.setdefault((namespace, what), deque())
        while started and started[0] <= now - _WINDOW:
            started.popleft()
        if len(started) >= most:
            wait = ceil((started[-most] + _WINDOW - now) / 1000)
            raise _too_many(namespace, what, most, wait)
        started.append(now)


def _too_many(namespace: str, what: str, most: int, wait: int) -> Busy:
    refusal = Busy(
        "kernel.start_rate",
        f"namespace {namespace} has started {most} runs of this sort within a minute",
        why=f"its operators allow no more ({what})",
        fix=f"try again in {wait} s",
    )
    refusal.retry_after = wait
    return refusal
