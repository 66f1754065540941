"""Limits what a key may start: runs per second, and runs in progress at once, where an administrator has set limits.

Each server process counts the rate for itself, over the requests that reach it. The runs in progress are counted in
the database: runs that a limited key started carry its id as a label, and those that have not ended count. A count is
used for a second, plus what this process started since; so starts that reach several processes at the same moment may
exceed the limit by a few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from plait.api.caller import Caller
from plait.kernel.clock import Clock
from plait.kernel.errors import Busy, InvalidInput
from plait.kernel.store import RunFilter, Store

from .auth.rate_limit import RateLimit

KEY_LABEL = "api_key"
"""The label with the id of the key that started a run, if that key is limited."""
_GOOD_FOR = 1.0
"""Seconds for which a count is used."""
_MOST = 10_000
"""Maximum number of counts kept in memory."""


@dataclass(slots=True)
class _Count:
    running: int
    at: float


def check_labels(labels: Mapping[str, str]) -> None:
    """Refuses labels with which a caller could make its runs count for the key of another."""
    if KEY_LABEL in labels:
        raise InvalidInput(
            "auth.label_is_reserved",
            f"the label `{KEY_LABEL}` can't be set",
            why="the server counts the runs of a key with a quota by it",
            fix="use another name for the label",
        )


class Quotas:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._rates: dict[int, RateLimit] = {}
        self._counts: dict[tuple[str, str], _Count] = {}

    async def take(self, caller: Caller, namespace: str) -> dict[str, str]:
        """Counts a start, or refuses it with 429. Returns the labels that the run needs to be counted."""
        if caller.start_rate is None and caller.max_running is None:
            return {}
        if caller.max_running is not None:
            await self._check_running(caller, namespace, caller.max_running)
        if caller.start_rate is not None:
            self._check_rate(caller, caller.start_rate)
        count = self._counts.get((caller.id, namespace))
        if count is not None:
            count.running += 1
        return {} if caller.max_running is None else {KEY_LABEL: caller.id}

    def _check_rate(self, caller: Caller, rate: int) -> None:
        bucket = self._rates.setdefault(rate, RateLimit(self._clock, burst=rate, per_second=rate))
        if wait := bucket.take(caller.id):
            raise _refused(
                "auth.start_rate", f"the key {caller.name} may start {_runs(rate)} a second", math.ceil(wait)
            )

    async def _check_running(self, caller: Caller, namespace: str, most: int) -> None:
        key = caller.id, namespace
        count, now = self._counts.get(key), self._clock.monotonic()
        if count is None or now - count.at >= _GOOD_FOR or count.running >= most:
            asked = RunFilter(namespace=namespace, status="running", labels={KEY_LABEL: caller.id}, limit=most)
            if len(self._counts) >= _MOST:
                self._counts.clear()
            self._counts[key] = count = _Count(len(await self._store.runs(asked)), now)
        if count.running >= most:
            raise _refused("auth.too_many_running", f"{_runs(most)} of the key {caller.name} have not ended", 5)


def _refused(code: str, what: str, wait: int) -> Busy:
    refusal = Busy(
        code,
        what,
        why="its administrators allow no more",
        fix="try again later, or ask an administrator for a key that may do more",
    )
    refusal.retry_after = max(1, wait)
    return refusal


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"
