"""Whether ids that callers choose for their runs turn out to be new.

That an id is taken is known from one look at the store, or from the commit that refuses it. The commit sees it for
nothing, but by then everything else was done for nothing. So a start looks first until many in a row were new, and
again as soon as one was not.
"""

from __future__ import annotations

MANY = 100


class ChosenIds:
    def __init__(self) -> None:
        self._new = 0
        """How many in a row."""

    @property
    def look_first(self) -> bool:
        return self._new < MANY

    def note(self, *, created: bool) -> None:
        self._new = self._new + 1 if created else 0
