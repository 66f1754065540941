"""The engines on a store and their backlog: for operators, on the page, in the API and in `plait doctor`."""

from __future__ import annotations

from plait.api.fleet import CodePool, FleetEngine, FleetOverview
from plait.kernel.census import Owner
from plait.kernel.ids import SHARDS, Millis
from plait.kernel.kernel import Kernel

from .drains import Drains


async def fleet_overview(kernel: Kernel, drains: Drains) -> FleetOverview:
    store, now = kernel.store, kernel.clock.now()
    living = [owner for owner in await store.owners() if owner.expires > now]
    census = await store.census()
    pools = [] if store.fleet is None else await store.fleet.pools()
    return FleetOverview(
        engines=[_engine(owner) for owner in living],
        shards=SHARDS,
        unowned=max(0, SHARDS - sum(owner.shards for owner in living)),
        pools=[CodePool(code=pool.code, runs=pool.runs, engines=pool.engines) for pool in pools],
        draining=await drains.list(),
        waiting=census.inbox,
        oldest_waiting_ms=_since(census.oldest_input, now),
        timer_lag_ms=_since(census.due, now),
    )


def _engine(owner: Owner) -> FleetEngine:
    return FleetEngine(
        name=owner.name, shards=owner.shards, pool_shards=owner.pool_shards, expires_at=int(owner.expires)
    )


def _since(moment: Millis | None, now: Millis) -> int:
    return 0 if moment is None else max(0, now - moment)
