"""The numbers of the runs that were used lately.

A store gives every run a number when it is made, and keeps the run's log under it: numbers grow, so the logs that are
written now lie beside each other in the index, however many runs have ended before. Everyone else knows runs by id.
The number of a run never changes, but one is known for sure only once it is on disk: remember it then, and not before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from plait.kernel.ids import RunId

SIZE = 10_000


class RunNumbers:
    def __init__(self, size: int = SIZE) -> None:
        self._known: OrderedDict[RunId, int] = OrderedDict()
        self._size = size
        self.get = self._known.get

    def remember(self, found: Mapping[RunId, int]) -> None:
        """The oldest are forgotten when there are too many."""
        self._known.update(found)
        while len(self._known) > self._size:
            self._known.popitem(last=False)

    def forget(self, run_id: RunId) -> None:
        """It is about to be removed. Another run may get its id, and then has another number."""
        self._known.pop(run_id, None)
