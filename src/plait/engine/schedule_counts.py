"""Counts of the outcomes that this process decided for schedules' times, for metrics. Never by schedule: there may be
any number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import get_args

from plait.api.schedule import Cause, Fire, FireOutcome


class ScheduleCounts:
    def __init__(self) -> None:
        # Start at zero: the increase of a counter that first appears with 1 is 0, and an alert would not see it
        self.times: Counter[tuple[Cause, FireOutcome]] = Counter(
            dict.fromkeys(product(get_args(Cause), get_args(FireOutcome)), 0)
        )
        self.delay_ms = 0
        """Total delay of started runs, in milliseconds."""

    def add(self, fires: Sequence[Fire]) -> None:
        for fire in fires:
            self.times[fire.cause, fire.outcome] += fire.count
            if fire.cause == "time" and fire.outcome == "started":
                self.delay_ms += max(0, fire.at - fire.scheduled_at)
