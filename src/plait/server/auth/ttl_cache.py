"""A small memory of things looked up a moment ago, bounded in time and in number.

Use does not keep a thing fresh: who puts back what he got from here would never look again.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from plait.kernel.clock import Clock

T = TypeVar("T")

SECONDS = 2.0
"""How long another process may go on with what was revoked meanwhile."""


class Fresh(Generic[T]):
    def __init__(self, clock: Clock, seconds: float = SECONDS, most: int = 10_000) -> None:
        self._clock = clock
        self._seconds = seconds
        self._most = most
        self._known: OrderedDict[str, tuple[float, T]] = OrderedDict()

    def get(self, name: str) -> T | None:
        known = self._known.get(name)
        if known is None or known[0] <= self._clock.monotonic():
            return None
        return known[1]

    def put(self, name: str, value: T) -> None:
        self._known[name] = (self._clock.monotonic() + self._seconds, value)
        self._known.move_to_end(name)
        if len(self._known) > self._most:
            self._known.popitem(last=False)

    def drop(self, name: str) -> None:
        self._known.pop(name, None)

    def __len__(self) -> int:
        return len(self._known)
