"""Ids chosen by callers: whether they are taken, and whether checking first pays off.

The store shows in one read whether an id is taken, and so does the commit that refuses the run. The commit's check is
free, but by then the work before it was wasted. So a start checks first until many ids in a row were new, and again as
soon as one was not.
"""

from __future__ import annotations

from plait.kernel.errors import Conflict
from plait.kernel.store import RunRow, Store

MANY = 100


class ChosenIds:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._new = 0
        """How many ids in a row were new."""

    @property
    def look_first(self) -> bool:
        """Whether to check first. If a new run may be refused or counted, by a rate, a queue or a draining version,
        callers always check, because an existing run must not be."""
        return self._new < MANY

    def note(self, *, created: bool) -> None:
        self._new = self._new + 1 if created else 0

    async def has(self, row: RunRow, code: str) -> bool:
        """Whether the run exists. Raises with this code if it was started differently."""
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
