"""Which shards this engine owns. Renews its leases, takes free shards up to its fair share, notices losses.

Losing a lease is not an error: whoever took the shard over has the whole log, and the epoch keeps
this engine from writing to it. It only has to forget the runs and say so.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from .clock import Alarm, Clock
from .errors import Unavailable
from .ids import SHARDS, Epoch, Millis, Shard
from .store import Lease, Store

log = logging.getLogger("plait.kernel")

Gained = Callable[[list[Shard]], Awaitable[None]]
Lost = Callable[[set[Shard]], None]
Leave = Callable[[set[Shard]], Awaitable[None]]


class Ownership:
    def __init__(
        self, store: Store, clock: Clock, owner: str, ttl: Millis, *, gained: Gained, lost: Lost, leave: Leave
    ) -> None:
        self.owner = owner
        self._store = store
        self._clock = clock
        self._ttl = ttl
        self._gained = gained
        self._lost = lost
        self._leave = leave
        self._epochs: dict[Shard, Epoch] = {}
        self._alarm: Alarm | None = None
        self._stopped = False
        self._exchange = asyncio.Lock()

    @property
    def shards(self) -> set[Shard]:
        return set(self._epochs)

    def epoch(self, shard: Shard) -> Epoch | None:
        """None when this engine does not own the shard."""
        return self._epochs.get(shard)

    def forget(self, shard: Shard, epoch: Epoch) -> None:
        """The store refused a write of that epoch: another engine owns it now, unless we have won it back since."""
        if self._epochs.get(shard) == epoch:
            del self._epochs[shard]
            log.warning("lost shard %d to another engine; its runs go on there", shard)
            self._lost({shard})

    async def refresh(self) -> None:
        """One round: renew what is held, give up what is too much, take what is free."""
        async with self._exchange:
            fresh = await self._renew()
        if fresh:
            await self._gained(fresh)

    async def _renew(self) -> list[Shard]:
        """Returns the shards that were gained."""
        standing = await self._store.renew(self.owner, self._ttl)
        held = {lease.shard: lease.epoch for lease in standing.leases}
        gone = {shard for shard, epoch in self._epochs.items() if held.get(shard) != epoch}
        if gone:
            for shard in gone:
                del self._epochs[shard]
            log.warning("lost %d shards to another engine; their runs go on there", len(gone))
            self._lost(gone)
        strays = [shard for shard in held if shard not in self._epochs]
        if strays:  # a claim whose answer was lost, or a release that did not get through: nobody works on them
            await self._store.release(self.owner, strays)
        fair = -(-SHARDS // max(1, standing.engines))
        if len(self._epochs) > fair:
            await self._give_up(sorted(self._epochs)[fair:])
        elif len(self._epochs) < fair:
            return self._take(await self._store.claim(self.owner, self._ttl, fair - len(self._epochs)))
        return []

    def _take(self, leases: list[Lease]) -> list[Shard]:
        fresh = [lease.shard for lease in leases if lease.shard not in self._epochs]
        self._epochs.update({lease.shard: lease.epoch for lease in leases})
        return fresh

    async def _give_up(self, shards: list[Shard]) -> None:
        for shard in shards:
            del self._epochs[shard]
        await self._leave(set(shards))
        await self._store.release(self.owner, shards)

    def keep(self, spawn: Callable[[Awaitable[None]], object]) -> None:
        """Renews for as long as the engine lives, three times within the time a lease lasts; also while what was
        gained is still being read."""

        async def beat() -> None:
            self.keep(spawn)
            if self._exchange.locked():
                return  # the store takes its time; one that waits is enough
            try:
                await self.refresh()
            except Unavailable as error:
                log.warning("could not renew the leases: %s", error)

        if not self._stopped:
            self._alarm = self._clock.call_later(self._ttl / 3000, lambda: spawn(beat()))

    def stop(self) -> None:
        self._stopped = True
        if self._alarm is not None:
            self._alarm.cancel()

    async def release(self) -> None:
        self._epochs.clear()
        await self._store.release(self.owner)
