"""A run's time limit, as callers give it."""

from __future__ import annotations

from datetime import timedelta

from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis
from plait.kernel.kernel import millis

_LONGEST_DEADLINE = 100 * 366 * 86_400.0


def span(deadline: float | timedelta) -> Millis:
    try:
        wait = deadline.total_seconds() if isinstance(deadline, timedelta) else float(deadline)
    except (TypeError, ValueError):
        wait = 0.0
    if not 0 < wait <= _LONGEST_DEADLINE:
        raise InvalidInput(
            "kernel.bad_deadline", f"deadline={deadline!r}", fix="use seconds or a timedelta, of at most 100 years"
        )
    return millis(wait)
