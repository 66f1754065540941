"""The shards that this engine owns. Renews its leases, claims free shards up to its fair share, notices losses.

Losing a lease is not an error: whoever took the shard over has the whole log, and the epoch keeps this engine from
writing to it. It only has to forget the runs and log the loss.
"""

from __future__ import annotations

import asyncio
import logging

from .background import Background
from .clock import Alarm, Clock
from .engine_code import EngineCode
from .errors import Unavailable
from .fleet import POOL_SHARDS
from .ids import SHARDS, Epoch, Millis, Shard
from .leases import Lease, Leases
from .store import Store
from .takeover import Takeover

log = logging.getLogger("plait.kernel")

_AT_ONCE = SHARDS // 2
"""Most shards that an engine in a fleet claims before it loads their runs. An engine that starts a moment later then
finds part of its share free, and nobody has to release runs that were just loaded."""


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
        code: EngineCode,
    ) -> None:
        self.owner = owner
        self._store = store
        self._clock = clock
        self._ttl = ttl
        self._leases = leases
        self._takeover = takeover
        self._background = background
        self._code = code
        self.alarm: Alarm | None = None
        """Fires at the next renewal."""
        self._stopped = False
        self._exchange = asyncio.Lock()
        self._again = False
        """Other engines came or went while shards were exchanged."""

    # -- life ----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        self._renew_later()
        await self.refresh()

    async def stop(self) -> None:
        self._stopped = True
        if self.alarm is not None:
            self.alarm.cancel()

    async def release(self) -> None:
        """Releases all shards, so that others need not wait for the leases to expire."""
        self._leases.clear()
        await self._store.release(self.owner)

    def _renew_later(self) -> None:
        """Schedules a renewal every third of a lease's lifetime; also while the runs of new shards are still being
        loaded."""
        if not self._stopped:
            self.alarm = self._clock.call_later(self._ttl / 3000, lambda: self._background.spawn(self._beat()))

    async def _beat(self) -> None:
        self._renew_later()
        if self._exchange.locked():
            return  # the store is slow; one waiting renewal is enough
        await self._refresh_if_possible()

    # -- gaining and losing --------------------------------------------------------------------------------------

    def forget(self, shard: Shard, epoch: Epoch) -> None:
        """The store refused a write of that epoch: another engine owns the shard now, unless we have regained it
        since."""
        if self._leases.epoch(shard) == epoch:
            self._leases.drop(shard)
            log.warning("lost shard %d to another engine; its runs go on there", shard)
            self._takeover.lost({shard})

    def others_changed(self) -> None:
        """An engine came, or released shards: rebalance now, not at the next renewal."""
        if self._exchange.locked():
            self._again = True
        elif self.alarm is not None and not self._stopped:
            self._background.spawn(self._refresh_if_possible())

    async def refresh(self) -> None:
        """Renews held shards, releases surplus ones, claims free ones: a few shards at a time in a fleet, which may
        have grown meanwhile."""
        while fresh := await self._exchange_shards():
            await self._takeover.gained([shard for shard in fresh if shard in self._leases])
            if self._store.fleet is None or self._stopped:
                return

    async def _exchange_shards(self) -> list[Shard]:
        """One round of exchange; another if engines came or went during it and nothing was gained. Returns the gained
        shards."""
        async with self._exchange:
            while True:
                self._again = False
                fresh = await self._renew()
                if fresh or not self._again:
                    return fresh

    async def _refresh_if_possible(self) -> None:
        try:
            await self.refresh()
        except Unavailable as error:
            log.warning("could not renew the leases: %s", error)

    async def _renew(self) -> list[Shard]:
        """Renews the leases; returns the shards gained."""
        standing = await self._store.renew(self.owner, self._ttl)
        held = {lease.shard: lease.epoch for lease in standing.leases}
        gone = {shard for shard in self._leases.shards if held.get(shard) != self._leases.epoch(shard)}
        if gone:
            for shard in gone:
                self._leases.drop(shard)
            log.warning("lost %d shards to another engine; their runs go on there", len(gone))
            self._takeover.lost(gone)
        strays = [shard for shard in held if shard not in self._leases]
        if strays:  # the answer to a claim was lost, or a release failed: nobody works on them
            await self._store.release(self.owner, strays)
        gained = await self._balance("", -(-SHARDS // max(1, standing.engines)))
        return gained + await self._renew_pools()

    async def _renew_pools(self) -> list[Shard]:
        """Renews the leases of pools whose code this engine has."""
        if self._store.fleet is None:
            return []
        code = self._code.names()
        pools = await self._store.fleet.announce(self.owner, code)
        self._leases.mixed = bool(pools)
        gained: list[Shard] = []
        for pool in filter(self._code.has_all_of, pools):
            gained += await self._balance(pool, -(-POOL_SHARDS // max(1, pools[pool])))
        return gained

    async def _balance(self, pool: str, fair: int) -> list[Shard]:
        """Releases shards above our share, the least busy first, or claims free ones."""
        held = self._leases.of_pool(pool)
        if len(held) > fair:
            busy = self._takeover.runs_under_way()
            await self._give_up(sorted(held, key=lambda shard: (-busy[shard], shard))[fair:])
        elif len(held) < fair:
            want = fair - len(held)
            return self._take(await self._claim(want if self._store.fleet is None else min(want, _AT_ONCE), pool), pool)
        return []

    async def _claim(self, want: int, pool: str) -> list[Lease]:
        if not pool:
            return await self._store.claim(self.owner, self._ttl, want)
        assert self._store.fleet is not None
        return await self._store.fleet.claim(self.owner, self._ttl, want, pool)

    def _take(self, leases: list[Lease], pool: str) -> list[Shard]:
        fresh = [lease.shard for lease in leases if lease.shard not in self._leases]
        for lease in leases:
            self._leases.take(lease.shard, lease.epoch, pool)
        return fresh

    async def _give_up(self, shards: list[Shard]) -> None:
        for shard in shards:
            self._leases.drop(shard)
        await self._takeover.leave(set(shards))
        await self._store.release(self.owner, shards)
