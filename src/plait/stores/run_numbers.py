"""The numbers of recently used runs.

A store gives every run a number when it is created, and keeps the run's log under it: numbers grow, so logs being
written are adjacent in the index, however many runs have ended before. Everything else knows runs by id. The number of
a run never changes, but it is certain only once it is on disk: remember it then, and not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from plait.kernel.ids import RunId

SIZE = 10_000


class RunNumbers:
    def __init__(self, size: int = SIZE) -> None:
        self._known: dict[RunId, int] = {}
        self._size = size
        self.get = self._known.get

    def remember(self, found: Mapping[RunId, int]) -> None:
        """Remembers numbers. If there are too many, the oldest half is dropped at once, which costs almost nothing."""
        known = self._known
        known.update(found)
        if len(known) > self._size:
            for run_id in list(islice(known, len(known) - self._size // 2)):
                del known[run_id]

    def forget(self, run_id: RunId) -> None:
        """Forgets a run about to be removed: its id may be reused with another number."""
        self._known.pop(run_id, None)
