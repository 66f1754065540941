"""Whether ids that callers choose for their runs turn out to be new.

That an id is taken is known from one look at the store, or from the commit that refuses the run. The commit sees it
for nothing, but by then all that leads to it was done for nothing. So a start looks first until many in a row were new,
and again as soon as one was not.
"""

from __future__ import annotations

from plait.kernel.bundle import Resolved

from .queued_starts import Queueing

MANY = 100


class ChosenIds:
    def __init__(self) -> None:
        self._new = 0
        """How many in a row."""

    def look_first(self, resolved: Resolved, queueing: Queueing) -> bool:
        """What would refuse or count a new run must not do so for one that is there: a rate, a version that drains, a
        queue."""
        refusable = resolved.rate is not None or resolved.version is not None or bool(queueing)
        return refusable or self._new < MANY

    def note(self, *, created: bool) -> None:
        self._new = self._new + 1 if created else 0
