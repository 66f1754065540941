"""The numbers of the runs that were used lately.

A store gives every run a number when it is made, and keeps the run's log under it: numbers grow, so the logs that are
written now lie beside each other in the index, however many runs have ended before. Everyone else knows runs by id.
The number of a run never changes, but one is known for sure only once it is on disk: remember it then, and not before.
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
        """The oldest are forgotten when there are too many: half of them at once, which costs next to nothing."""
        known = self._known
        known.update(found)
        if len(known) > self._size:
            for run_id in list(islice(known, len(known) - self._size // 2)):
                del known[run_id]

    def forget(self, run_id: RunId) -> None:
        """It is about to be removed. Another run may get its id, and then has another number."""
        self._known.pop(run_id, None)
