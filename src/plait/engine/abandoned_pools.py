"""Ended runs of pools whose code no engine has: nobody owns their shards, so whoever removes old runs fences the last
owner itself, and deletes pools that are empty then. A pool whose code comes back is claimed as ever, at once."""

from __future__ import annotations

import logging
from collections.abc import Collection

from plait.kernel.fleet import Fleet
from plait.kernel.ids import Epoch, Shard

log = logging.getLogger("plait.retention")


class AbandonedPools:
    def __init__(self, fleet: Fleet | None) -> None:
        self._fleet = fleet
        self.shards: frozenset[Shard] = frozenset()
        """As of this round."""
        self._epochs: dict[Shard, Epoch] = {}
        """Raised in this round."""

    async def look(self) -> None:
        """A round begins."""
        self._epochs.clear()
        self.shards = frozenset() if self._fleet is None else frozenset(await self._fleet.abandoned())

    async def epochs(self, shards: Collection[Shard]) -> dict[Shard, Epoch]:
        """To write to these with, as far as nobody holds them. Only what has a run to remove is written to."""
        new = self.shards.intersection(shards).difference(self._epochs)
        if self._fleet is not None and new:
            self._epochs |= {lease.shard: lease.epoch for lease in await self._fleet.raise_epochs(new)}
        return self._epochs

    async def remove_emptied(self) -> None:
        if self._fleet is not None and self.shards:
            for pool in await self._fleet.remove_emptied():
                log.info("the pool of `%s` is removed: no engine has that code, and no run needs it", pool)
