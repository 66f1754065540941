"""The ids that callers choose for their runs: whether they are taken, and whether it is worth to look first.

That an id is taken is known from one look at the store, or from the commit that refuses the run. The commit sees it
for nothing, but by then all that leads to it was done for nothing. So a start looks first until many in a row were new,
and again as soon as one was not.
"""

from __future__ import annotations

from plait.kernel.errors import Conflict
from plait.kernel.store import RunRow, Store

MANY = 100


class ChosenIds:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._new = 0
        """How many in a row."""

    @property
    def look_first(self) -> bool:
        """Where a new run may be refused or counted, by a rate, a queue or a version that drains, one looks in any
        case: one that is there must not be."""
        return self._new < MANY

    def note(self, *, created: bool) -> None:
        self._new = self._new + 1 if created else 0

    async def has(self, row: RunRow, code: str) -> bool:
        """Whether the run exists. Refuses with this code one that was started otherwise."""
        known = await self._store.run(row.id)
        if known is None:
            return False
        if known.start_hash != row.start_hash:
            raise Conflict(
                code,
                f"run {row.id} exists with another definition or input",
                fix="use a new id, or the same definition and input",
            )
        return True
