"""Which shards an engine owns: it takes its share, keeps it while it lives, and gives it up in peace."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager

import pytest

from plait.kernel.census import Standing
from plait.kernel.errors import Unavailable
from plait.kernel.ids import SHARDS, Millis, RunId, Shard
from plait.kernel.leases import Lease
from plait.kernel.store import RunRow
from plait.testing import VirtualClock
from tests.kernel.builders import add
from tests.kernel.rig import CountingStore, Rig, SlowReads, rig, until
from tests.kernel.toy import count, task

TTL = Millis(9_000)


class LeaseStore(CountingStore):
    """Counts renewals, and fails or takes its time when told."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock=clock)
        self.renewals: list[str] = []
        self.offline: set[str] = set()
        self.recovery: asyncio.Event | None = None

    async def renew(self, owner: str, ttl: Millis) -> Standing:
        if owner in self.offline:
            raise Unavailable("store.away", "the store is away")
        self.renewals.append(owner)
        return await super().renew(owner, ttl)

    async def claim(self, owner: str, ttl: Millis, want: int) -> list[Lease]:
        if owner in self.offline:
            raise Unavailable("store.away", "the store is away")
        return await super().claim(owner, ttl, want)

    async def recovering(self, shards: Collection[Shard]) -> list[RunRow]:
        if self.recovery is not None:
            await self.recovery.wait()
        return await super().recovering(shards)


@asynccontextmanager
async def engines(*names: str) -> AsyncIterator[list[Rig]]:
    clock = VirtualClock()
    store = LeaseStore(clock)
    found = [Rig(store, clock=clock, owner=name, ttl=TTL) for name in names]

    async def settle() -> None:
        for on in found:
            if on.kernel.loop.alive:
                await on.settle()

    clock.settle = settle
    for on in found:
        await on.kernel.open()
        clock.settle = settle
    yield found
    for on in found:
        if not on.kernel.dead.done():
            await on.kernel.close()
    await store.dispose()


def held(on: Rig) -> int:
    return len(on.kernel.leases)


def leases(on: Rig) -> LeaseStore:
    assert isinstance(on.store, LeaseStore)
    return on.store


async def test_an_engine_alone_owns_everything():
    async with engines("one") as [one]:
        assert held(one) == SHARDS


async def test_engines_share_fairly_and_every_shard_has_one_owner():
    async with engines("one", "two", "three") as found:
        await found[0].clock.advance(30)
        assert sum(map(held, found)) == SHARDS
        assert max(map(held, found)) - min(map(held, found)) <= 2


async def test_a_lease_is_renewed_for_as_long_as_the_engine_lives():
    async with engines("one") as [one]:
        await one.clock.advance(3600)
        assert held(one) == SHARDS


async def test_an_engine_that_closes_leaves_its_shards_to_the_others_at_once():
    async with engines("one", "two") as [one, two]:
        await one.clock.advance(10)
        await one.kernel.close()
        await two.clock.advance(TTL / 3000)
        assert held(two) == SHARDS


async def test_an_engine_that_crashed_is_succeeded_when_its_leases_run_out():
    async with engines("one", "two") as [one, two]:
        await one.clock.advance(10)
        await one.kernel.crash()
        await two.clock.advance(TTL / 3000)
        assert held(two) < SHARDS
        await two.clock.advance(TTL / 1000)
        assert held(two) == SHARDS


async def test_runs_follow_their_shards_and_lose_nothing():
    async with engines("one", "two") as [one, two]:
        runs = [await one.start(count(2), id=f"run-{number}") for number in range(40)]
        for run in runs:
            await one.kernel.send(run, add(1, "a"), "a")
        await one.clock.advance(10)
        await one.kernel.close()
        await two.clock.advance(10)
        for run in runs:
            await two.send(run, add(1, "b"), "b")
            assert (await two.output(run))["counter"] == 2


async def test_a_step_under_way_when_its_shard_is_given_up_is_done_by_the_new_owner():
    began: list[str] = []

    def step_of(name: str) -> Callable[[], Awaitable[str]]:
        async def step() -> str:
            began.append(name)
            await asyncio.Event().wait()
            return name

        return step

    async with engines("one") as [one]:
        one.dialect.calls["step"] = step_of("one")  # pyright: ignore[reportAttributeAccessIssue]
        runs = [await one.start(task("step"), id=f"run-{number}") for number in range(200)]  # in all shards
        await one.settle()
        two = Rig(one.store, clock=one.clock, owner="two", ttl=TTL)
        await two.kernel.open()
        for _ in range(5):
            await one.clock.advance(TTL / 3000)
            await one.settle()
            await two.settle()
        assert held(two) == SHARDS // 2
        moved = [run for run in runs if two.kernel.owns(run)]
        assert moved
        for run in moved:
            assert (await two.output(run))["outputs"] == ["step"]
        await two.kernel.close()


async def test_shards_without_a_step_under_way_are_given_up_first():
    async with engines("one") as [one]:
        one.dialect.calls["step"] = asyncio.Event().wait  # pyright: ignore[reportAttributeAccessIssue]
        runs = [await one.start(task("step"), id=f"run-{number}") for number in range(20)]
        await one.settle()
        two = Rig(one.store, clock=one.clock, owner="two", ttl=TTL)
        await two.kernel.open()
        for _ in range(5):
            await one.clock.advance(TTL / 3000)
            await one.settle()
        assert held(two) == SHARDS // 2
        assert all(one.kernel.owns(run) for run in runs)
        await two.kernel.close()


async def test_an_engine_cut_off_from_its_store_takes_up_its_work_when_it_is_back():
    async with engines("one") as [one]:
        run = await one.start(count(1))
        leases(one).offline = {"one"}
        await one.clock.advance(60)
        leases(one).offline = set()
        await one.clock.advance(TTL / 3000)
        await one.send(run, add(1), "k")
        assert (await one.output(run))["counter"] == 1


async def test_an_engine_that_takes_long_to_take_over_keeps_its_leases_meanwhile():
    """A hundred thousand runs take longer to read than a lease lasts."""
    async with engines("one") as [one]:
        await one.start(task("step"))
        await one.kernel.close()
        store = leases(one)
        store.recovery = asyncio.Event()
        two = Rig(store, clock=one.clock, owner="two", ttl=TTL)
        opening = asyncio.ensure_future(two.kernel.open())
        await until(lambda: "two" in store.renewals)
        store.renewals.clear()
        for _ in range(12):
            await one.clock.advance(TTL / 3000)
        assert store.renewals.count("two") >= 10
        store.recovery.set()
        await opening
        assert held(two) == SHARDS
        await two.kernel.close()


async def test_a_shard_taken_by_another_engine_is_noticed_at_the_next_renewal(caplog: pytest.LogCaptureFixture):
    async with engines("one") as [one]:
        db = one.store._db  # pyright: ignore[reportPrivateUsage]
        assert db is not None
        db.execute("update shards set epoch = epoch + 1, owner = 'thief', expires = 1e18 where shard < 10")
        await one.clock.advance(TTL / 3000)
        assert held(one) == SHARDS - 10
        assert "lost 10 shards" in caplog.text


async def test_a_client_owns_nothing_and_starts_runs_all_the_same():
    async with engines("one") as [one], rig(one.store, own_shards=False, owner="client", clock=one.clock) as client:
        assert held(client) == 0
        run = await client.start(count(0), id="from-client")
        await one.kernel._news()  # pyright: ignore[reportPrivateUsage]
        assert (await one.output(run))["outputs"] == [0]


async def test_a_run_is_owned_by_one_engine_only():
    async with engines("one", "two") as [one, two]:
        await one.clock.advance(10)
        for number in range(100):
            run = RunId(f"run-{number}")
            assert one.kernel.owns(run) != two.kernel.owns(run)


async def test_a_run_that_waits_to_be_made_when_its_shard_goes_is_made_all_the_same():
    """Nothing of it was written, and nobody would ever have answered its caller."""
    async with rig() as on:
        store = on.store
        assert isinstance(store, CountingStore)
        store.gate = asyncio.Event()
        first = asyncio.ensure_future(on.start(count(0), id="first"))
        await until(lambda: on.kernel.loop.committing)
        waiting = asyncio.ensure_future(on.start(count(0), id="waiting"))
        for _ in range(5):
            await asyncio.sleep(0)
        await store.release(on.kernel.owner)
        await on.kernel._ownership.refresh()
        store.gate.set()
        await first
        assert await asyncio.wait_for(waiting, 60) == RunId("waiting")
        assert (await on.end(RunId("waiting"))).status == "completed"


async def test_a_run_whose_shard_is_lost_and_won_back_while_it_is_read_takes_its_inputs():
    """Whoever took the shards up left it to the read that was under way, and the inbox to what that held."""
    clock = VirtualClock()
    store = SlowReads(clock=clock)
    async with rig(store, clock=clock) as owner, rig(store, clock=clock, own_shards=False, owner="client") as client:
        reading = store.reading = asyncio.Event()
        run = await client.start(count(0))
        looking = asyncio.ensure_future(owner.kernel._news())
        await until(lambda: store.reading is None)
        await store.release(owner.kernel.owner)
        await owner.kernel._ownership.refresh()
        reading.set()
        await looking
        assert (await owner.end(run)).status == "completed"
    await store.dispose()


async def test_a_run_without_an_id_of_its_own_is_made_in_a_shard_of_this_engine():
    async with engines("one", "two") as [one, two]:
        await one.clock.advance(10)
        for on in (one, two):
            assert 0 < held(on) < SHARDS
            rows = [on.kernel.new_row("default", None, "toy", "toy", None, {}) for _ in range(20)]
            assert all(on.kernel.owns(row.id) for row in rows)
