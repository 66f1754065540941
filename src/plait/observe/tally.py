"""A histogram in plain numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

OTHER = "other"
"""Stands for all routes, definitions and nodes that are not counted separately."""


class Tally:
    """A histogram: how many values fell at or below each bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float, times: int = 1) -> None:
        self._counts[bisect_left(self._bounds, value)] += times
        self.total += value * times

    def buckets(self) -> Iterator[tuple[str, float]]:
        """Yields the buckets as Prometheus expects them: cumulative, the last without a bound."""
        names = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        yield from zip(names, accumulate(self._counts), strict=True)
