"""Microseconds of the processor's time: on a busy machine the clock says more about the neighbours."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from time import process_time

ROUNDS = 7
SECONDS = 0.2
"""Of one round, about."""


def micros(call: Callable[[], object]) -> float:
    """µs of a call, the best of several rounds."""
    timer = timeit.Timer(call, timer=process_time)
    once = max(timer.timeit(1), 1e-7)
    number = max(1, int(SECONDS / once))
    return min(timer.repeat(ROUNDS, number)) / number * 1e6
