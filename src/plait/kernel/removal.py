"""Removal: how ended runs leave a store, a few rows at a time.

    ended ──> shrink ──> Write(removal=…) ──> sweep
    a page    its log    its row and all that  its events, and large values
              lines      is found by its id    that no other run refers to

The write is the turning point: before it the run is complete, after it nobody finds it. Like every write of an owner it
proves an epoch and is part of a group commit. Potentially long deletions are left to `shrink` and `sweep`, some rows at
a time.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, Protocol, TypeAlias

import msgspec

from .ids import Millis, RunId, Shard

EndedStatus = Literal["completed", "failed", "cancelled"]
Place: TypeAlias = tuple[Millis, RunId]
"""Position of a run in a list: its creation time and id."""


class EndedQuery(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    namespace: str
    dialect: str
    status: EndedStatus
    before: Millis
    """Selects runs that had ended by then."""
    shards: Collection[Shard]
    after: Place | None = None
    limit: int = 200
    """Most runs examined, whether they are due or not."""


class EndedPage(msgspec.Struct, frozen=True, gc=False):
    runs: list[RunId]
    shards: list[Shard]
    """The shard of each run in the store."""
    next: Place | None
    """Where the next page starts; None: this was the last."""


class Removals(Protocol):
    async def ended(self, query: EndedQuery) -> EndedPage:
        """Runs that can be removed, oldest first. A run whose parent is still stored can't be."""
        ...

    async def shrink(self, run_ids: Collection[RunId], before: Millis, limit: int) -> int:
        """Deletes log lines of runs that had ended by then. Returns how many: fewer than `limit` means none are
        left."""
        ...

    async def sweep(self, limit: int) -> bool:
        """Deletes events of removed runs, and then their large values that no other run refers to; False: nothing is
        left."""
        ...

    async def remove_lost_inputs(self, shards: Collection[Shard], before: Millis, limit: int) -> list[RunId]:
        """Deletes inputs that have waited since then for runs that are not stored, as when a child ends after its
        parent was removed. Returns the runs: fewer than `limit` means none are left."""
        ...
