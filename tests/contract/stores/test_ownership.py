"""Ownership: a shard has one owner, a lease ends by time or will, and an old epoch writes nothing."""

from plait.kernel.ids import SHARDS, RunId, Shard
from plait.kernel.leases import Lease
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import (
    ALL,
    LONG,
    NONE,
    create,
    ended,
    log_row,
    message,
    must,
    one_of_another_shard,
    outside,
    own_all,
    run_row,
)


async def test_a_claim_gives_as_many_shards_as_are_wanted(backend: Backend):
    async with opened(backend) as store:
        first = await store.claim("a", LONG, 10)
        second = await store.claim("b", LONG, 100)
        assert (len(first), len(second)) == (10, SHARDS - 10)
        assert {lease.shard for lease in first + second} == set(ALL)


async def test_a_shard_that_is_held_is_not_given_to_another(backend: Backend):
    async with opened(backend) as store:
        await own_all(store, "a")
        assert await store.claim("b", LONG, SHARDS) == []


async def test_an_owner_that_wants_more_is_not_given_what_it_has(backend: Backend):
    async with opened(backend) as store:
        first = await store.claim("a", LONG, 10)
        second = await store.claim("a", LONG, 10)
        assert len(first) == len(second) == 10
        assert {lease.shard for lease in first}.isdisjoint(lease.shard for lease in second)
        await store.claim("b", LONG, SHARDS)
        assert await store.claim("a", LONG, 10) == []
        assert [lease for lease in (await store.renew("a", LONG)).leases if lease in first] == first


async def test_a_lease_that_ran_out_goes_to_the_next_with_a_higher_epoch(backend: Backend):
    async with opened(backend) as store:
        old = await own_all(store, "a", NONE)
        new = await own_all(store, "b")
        assert all(new.epochs[shard] > old.epochs[shard] for shard in ALL)


async def test_an_old_epoch_is_fenced_while_its_neighbours_pass(backend: Backend):
    other = one_of_another_shard("run")
    async with opened(backend) as store:
        old = await own_all(store, "a", NONE)
        new = await own_all(store, "b")
        stale = old.write("run", create=run_row(), log=log_row(1), inbox=[message("run")])
        fresh = new.write(other, create=run_row(other), log=log_row(1), patch=ended())
        assert await store.commit([stale, fresh, stale]) == ["fenced", "ok", "fenced"]
        assert await store.run(RunId("run")) is None
        assert await store.log(RunId("run")) == []
        assert await store.inbox(ALL, 10) == []
        assert await store.log(RunId(other)) == [log_row(1)]


async def test_an_epoch_is_fenced_from_the_moment_another_has_the_shard_even_if_both_write_in_one_group(
    backend: Backend,
):
    async with opened(backend) as store:
        old = await own_all(store, "a", NONE)
        new = await own_all(store, "b")
        await create(store, "run")
        group = [new.write("run", log=log_row(1)), old.write("run", log=log_row(1)), new.write("run", log=log_row(2))]
        assert await store.commit(group) == ["ok", "fenced", "ok"]


async def test_an_owner_may_write_until_its_shard_is_taken_even_if_its_time_is_up(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store, "a", NONE)
        await create(store, "run")
        await must(store, owner.write("run", log=log_row(1)))


async def test_a_write_from_outside_needs_no_lease(backend: Backend):
    async with opened(backend) as store:
        await must(store, outside("run", create=run_row(), inbox=[message("run")]))
        await own_all(store, "a")
        await must(store, outside("run", inbox=[message("run", "another")]))


async def test_a_renewal_keeps_a_lease_that_would_have_run_out(backend: Backend):
    async with opened(backend) as store:
        leases = await store.claim("a", NONE, 5)
        standing = await store.renew("a", LONG)
        assert sorted(standing.leases, key=lambda lease: lease.shard) == leases
        assert {lease.shard for lease in await store.claim("b", LONG, SHARDS)} == set(ALL[5:])


async def test_a_renewal_tells_what_is_still_owned(backend: Backend):
    async with opened(backend) as store:
        await own_all(store, "a", NONE)
        taken = await store.claim("b", LONG, 60)
        standing = await store.renew("a", LONG)
        assert {lease.shard for lease in standing.leases} == set(ALL) - {lease.shard for lease in taken}
        assert (await store.renew("nobody", LONG)).leases == []


async def test_given_up_shards_are_free_at_once_and_their_old_epoch_is_fenced(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store, "a")
        shard = run_row("run").shard
        await store.release("a", [shard])
        [lease] = await store.claim("b", LONG, SHARDS)
        assert lease == Lease(shard, lease.epoch)
        assert lease.epoch > owner.epochs[shard]
        assert await store.commit([owner.write("run", log=log_row(1))]) == ["fenced"]
        assert {held.shard for held in (await store.renew("a", LONG)).leases} == set(ALL) - {shard}


async def test_an_owner_that_stops_gives_up_everything(backend: Backend):
    async with opened(backend) as store:
        await own_all(store, "a")
        await store.release("a")
        assert (await store.renew("a", LONG)).leases == []
        await own_all(store, "b")


async def test_only_its_owner_gives_a_shard_up(backend: Backend):
    async with opened(backend) as store:
        await own_all(store, "a")
        await store.release("b", [Shard(3)])
        await store.release("b")
        assert await store.claim("c", LONG, SHARDS) == []


async def test_epochs_of_a_shard_only_grow(backend: Backend):
    async with opened(backend) as store:
        seen = 0
        for number in range(4):
            owner = await own_all(store, f"owner-{number}", NONE)
            assert owner.epochs[Shard(7)] > seen
            seen = owner.epochs[Shard(7)]
