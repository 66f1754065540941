"""Calls that seemed to fail but did not, and calls that did fail in the middle of an exchange of shards."""

from collections.abc import Collection

import pytest

from plait import Engine
from plait.errors import Unavailable
from plait.kernel.ids import SHARDS, Millis, RunId, Shard, shard_of
from plait.kernel.leases import Lease
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock, sim

from .work import waiting

TTL = 30.0


class Unreliable(MemoryStore):
    """Fails once, where it is told to: before a release, or after a claim."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock=clock)
        self.fails: str | None = None

    async def release(self, owner: str, shards: Collection[Shard] | None = None) -> None:
        self._fail("release")
        await super().release(owner, shards)

    async def claim(self, owner: str, ttl: Millis, want: int) -> list[Lease]:
        leases = await super().claim(owner, ttl, want)
        self._fail("claim")
        return leases

    def _fail(self, what: str) -> None:
        if self.fails == what:
            self.fails = None
            raise Unavailable("store.unreachable", "the answer was lost")


def shards_of(engine: Engine) -> set[int]:
    """Found out by asking for many runs."""
    ids = [RunId(f"run-{number}") for number in range(2000)]
    return {shard_of(id) for id in ids if engine.kernel.owns(id)}


@pytest.mark.parametrize("call", ["release", "claim"])
async def test_a_shard_whose_exchange_failed_half_way_is_not_left_without_an_owner(call: str):
    clock = VirtualClock()
    store = Unreliable(clock)
    await store.open()
    async with (
        Engine(store=store, clock=clock, lease_ttl=TTL) as first,
        Engine(store=store, clock=clock, lease_ttl=TTL) as second,
    ):
        store.fails = call
        for _ in range(6):
            await clock.advance(TTL / 3)
        assert store.fails is None
        owned = [shards_of(engine) for engine in (first, second)]
        assert [len(shards) for shards in owned] == [SHARDS // 2, SHARDS // 2]
        assert owned[0] | owned[1] == set(range(SHARDS))
    await store.dispose()


async def test_a_message_that_is_sent_again_after_the_run_has_taken_it_and_ended_is_acknowledged():
    async with sim([waiting]) as s:
        run = await s.start(waiting)
        await run.message("go", "on", id="m-1")
        assert await s.result(run) == "went on"
        assert await run.message("go", "on", id="m-1") == "m-1"
        assert len((await run.history()).of("message.queued")) == 1
