"""Which shards this engine owns. Renews its leases, takes free shards up to its fair share, notices losses.

Losing a lease is not an error: whoever took the shard over has the whole log, and the epoch keeps
this engine from writing to it. It only has to forget the runs and say so.
"""

from __future__ import annotations

import asyncio
import logging

from .background import Background
from .clock import Alarm, Clock
from .errors import Unavailable
from .ids import SHARDS, Epoch, Millis, Shard
from .leases import Leases
from .store import Lease, Store
from .takeover import Takeover

log = logging.getLogger("plait.kernel")


class Ownership:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        owner: str,
        ttl: Millis,
        leases: Leases,
        takeover: Takeover,
        background: Background,
    ) -> None:
        self.owner = owner
        self._store = store
        self._clock = clock
        self._ttl = ttl
        self._leases = leases
        self._takeover = takeover
        self._background = background
        self.alarm: Alarm | None = None
        """For the next renewal."""
        self._stopped = False
        self._exchange = asyncio.Lock()

    # -- life ----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        self._renew_later()
        await self.refresh()

    async def stop(self) -> None:
        self._stopped = True
        if self.alarm is not None:
            self.alarm.cancel()

    async def release(self) -> None:
        """Gives up everything, so that others need not wait for the leases to run out."""
        self._leases.clear()
        await self._store.release(self.owner)

    def _renew_later(self) -> None:
        """Three times within the time a lease lasts; also while what was gained is still being read."""
        if not self._stopped:
            self.alarm = self._clock.call_later(self._ttl / 3000, lambda: self._background.spawn(self._beat()))

    async def _beat(self) -> None:
        self._renew_later()
        if self._exchange.locked():
            return  # the store takes its time; one that waits is enough
        try:
            await self.refresh()
        except Unavailable as error:
            log.warning("could not renew the leases: %s", error)

    # -- gaining and losing --------------------------------------------------------------------------------------

    def forget(self, shard: Shard, epoch: Epoch) -> None:
        """The store refused a write of that epoch: another engine owns it now, unless we have won it back since."""
        if self._leases.epoch(shard) == epoch:
            self._leases.drop(shard)
            log.warning("lost shard %d to another engine; its runs go on there", shard)
            self._takeover.lost({shard})

    async def refresh(self) -> None:
        """One round: renew what is held, give up what is too much, take what is free."""
        async with self._exchange:
            fresh = await self._renew()
        if fresh:
            await self._takeover.gained(fresh)

    async def _renew(self) -> list[Shard]:
        """Returns the shards that were gained."""
        standing = await self._store.renew(self.owner, self._ttl)
        held = {lease.shard: lease.epoch for lease in standing.leases}
        gone = {shard for shard in self._leases.shards if held.get(shard) != self._leases.epoch(shard)}
        if gone:
            for shard in gone:
                self._leases.drop(shard)
            log.warning("lost %d shards to another engine; their runs go on there", len(gone))
            self._takeover.lost(gone)
        strays = [shard for shard in held if shard not in self._leases]
        if strays:  # a claim whose answer was lost, or a release that did not get through: nobody works on them
            await self._store.release(self.owner, strays)
        fair = -(-SHARDS // max(1, standing.engines))
        if len(self._leases) > fair:
            await self._give_up(sorted(self._leases.shards)[fair:])
        elif len(self._leases) < fair:
            return self._take(await self._store.claim(self.owner, self._ttl, fair - len(self._leases)))
        return []

    def _take(self, leases: list[Lease]) -> list[Shard]:
        fresh = [lease.shard for lease in leases if lease.shard not in self._leases]
        for lease in leases:
            self._leases.take(lease.shard, lease.epoch)
        return fresh

    async def _give_up(self, shards: list[Shard]) -> None:
        for shard in shards:
            self._leases.drop(shard)
        await self._takeover.leave(set(shards))
        await self._store.release(self.owner, shards)
