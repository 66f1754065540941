"""A small cache, bounded in time and size. A hit does not extend the lifetime of an entry."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from plait.kernel.clock import Clock

T = TypeVar("T")

SECONDS = 0.4
"""Seconds for which another process may still accept what was revoked."""


class TtlCache(Generic[T]):
    def __init__(self, clock: Clock, seconds: float = SECONDS, most: int = 10_000) -> None:
        self._clock = clock
        self._seconds = seconds
        self._most = most
        self._entries: OrderedDict[str, tuple[float, T]] = OrderedDict()

    def get(self, name: str) -> T | None:
        entry = self._entries.get(name)
        if entry is None or entry[0] <= self._clock.monotonic():
            return None
        return entry[1]

    def stale(self, name: str, seconds: float) -> T | None:
        """Returns an entry that has expired, but no longer than `seconds` ago."""
        entry = self._entries.get(name)
        if entry is None or entry[0] + seconds <= self._clock.monotonic():
            return None
        return entry[1]

    def put(self, name: str, value: T) -> None:
        self._entries[name] = (self._clock.monotonic() + self._seconds, value)
        self._entries.move_to_end(name)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def drop(self, name: str) -> None:
        self._entries.pop(name, None)

    def __len__(self) -> int:
        return len(self._entries)
