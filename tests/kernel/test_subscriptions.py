"""The feed: when watchers look again."""

import asyncio

from plait.kernel.ids import Epoch, RunId, Seq, shard_of
from plait.kernel.leases import Leases
from plait.kernel.store import Write
from plait.kernel.subscriptions import POLL, Subscriptions
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock
from tests.contract.stores.builders import create, log_row, own_all

RUN = RunId("run")


class Owned(Leases):
    """Which runs this engine owns, as it is told."""

    ours = False

    def owns(self, run_id: RunId) -> bool:
        return self.ours


async def rings(bell: asyncio.Event) -> bool:
    for _ in range(20):
        await asyncio.sleep(0)
    rung = bell.is_set()
    bell.clear()
    return rung


async def test_a_run_of_another_owner_is_looked_at_every_so_often():
    clock, store, owned = VirtualClock(), MemoryStore(), Owned()
    await store.open()
    owner = await own_all(store)
    await create(store, RUN)
    feed = Subscriptions(store, clock, owned)
    with feed.run(RUN) as bell:
        await clock.advance(POLL)
        assert not await rings(bell)
        await store.commit([Write(RUN, shard_of(RUN), Epoch(owner.epochs[shard_of(RUN)]), log=log_row(1))])
        await clock.advance(POLL)
        assert await rings(bell)
        await clock.advance(POLL)
        assert not await rings(bell)
    await store.dispose()


async def test_what_the_last_owner_wrote_before_a_run_became_ours_is_seen():
    """It was hidden: what is ours is not looked for any more, and nothing more was written."""
    clock, store, owned = VirtualClock(), MemoryStore(), Owned()
    await store.open()
    owner = await own_all(store)
    await create(store, RUN)
    feed = Subscriptions(store, clock, owned)
    with feed.run(RUN) as bell:
        await store.commit([Write(RUN, shard_of(RUN), owner.epochs[shard_of(RUN)], log=log_row(1))])
        owned.ours = True
        await clock.advance(10 * POLL)
        assert not await rings(bell)
        feed.gained([shard_of(RUN)])
        assert await rings(bell)
    assert (await store.heads([RUN]))[RUN] == Seq(1)
    await store.dispose()


async def test_nobody_is_rung_for_shards_he_does_not_watch():
    clock, store, owned = VirtualClock(), MemoryStore(), Owned()
    await store.open()
    feed = Subscriptions(store, clock, owned)
    with feed.run(RUN) as bell:
        feed.gained([shard for shard in range(64) if shard != shard_of(RUN)])  # type: ignore[misc]
        assert not await rings(bell)
    await store.dispose()
