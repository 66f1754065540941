"""Counting without a library in the way: a histogram of plain integers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate


class Tally:
    """How many values fell at or below each bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def buckets(self) -> Iterator[tuple[str, float]]:
        """As Prometheus wants them: cumulative, the last without a bound."""
        names = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        yield from zip(names, accumulate(self._counts), strict=True)


LATENCIES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
DURATIONS = (0.1, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800)
