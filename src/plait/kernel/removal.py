"""The end of a run's record: how ended runs leave a store, a few rows at a time.

    ended ──> shrink ──> Write(removal=…) ──> sweep
    a page    its log    its row and all that  its events, and large values
              lines      is found by its id    that no other run refers to

The write is the one moment: before it the run is whole, after it nobody finds it. Like every write of an owner it
proves an epoch and rides in a group commit. What may be long is left to `shrink` and `sweep`, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, Protocol, TypeAlias

import msgspec

from .ids import Millis, RunId, Shard

EndedStatus = Literal["completed", "failed", "cancelled"]
Place: TypeAlias = tuple[Millis, RunId]
"""Of a run in a list: when it was created, and its id."""


class EndedQuery(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    namespace: str
    dialect: str
    status: EndedStatus
    before: Millis
    """They had ended by then."""
    shards: Collection[Shard]
    after: Place | None = None
    limit: int = 200
    """Runs that are looked at, whether they are due or not."""


class EndedPage(msgspec.Struct, frozen=True, gc=False):
    runs: list[RunId]
    shards: list[Shard]
    """Where the store has each of them."""
    next: Place | None
    """Where the next page begins; None: this was the last."""


class Removals(Protocol):
    async def ended(self, query: EndedQuery) -> EndedPage:
        """Runs that can be removed, oldest first. A run whose parent is still stored can't."""
        ...

    async def shrink(self, run_ids: Collection[RunId], before: Millis, limit: int) -> int:
        """Deletes log lines of runs that had ended by then, and says how many: fewer than `limit` were the last."""
        ...

    async def sweep(self, limit: int) -> bool:
        """Deletes events of removed runs, and then their large values that no other run has; False: nothing is left."""
        ...

    async def remove_lost_inputs(self, shards: Collection[Shard], before: Millis, limit: int) -> list[RunId]:
        """Deletes inputs that have waited since then for runs that are not stored, as when a child ends after the run
        that started it was removed. Says whose they were: fewer than `limit` were the last."""
        ...
