"""Timers: due ones in order of their time, never early, gone when cleared."""

from plait.kernel.approval import ApprovalChange
from plait.kernel.ids import Millis, RunId, TaskToken
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import (
    ALL,
    NOW,
    approval,
    must,
    one_of_another_shard,
    open_approvals,
    own_all,
    run_row,
    timer,
)


async def test_timers_are_due_at_their_time_and_not_before(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        timers = [timer("run", "late", 30), timer("run", "soon", 10), timer("run", "middle", 20)]
        await must(store, owner.write("run", timers=timers))
        assert await store.due(ALL, Millis(9), 10) == []
        assert await store.due(ALL, Millis(10), 10) == [timers[1]]
        assert await store.due(ALL, Millis(99), 10) == [timers[1], timers[2], timers[0]]
        assert await store.due(ALL, Millis(99), 2) == [timers[1], timers[2]]


async def test_a_timer_set_again_has_its_new_time(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", timers=[timer("run", "sleep", 10)]))
        await must(store, owner.write("run", timers=[timer("run", "sleep", 20), timer("run", "sleep", 30)]))
        assert await store.due(ALL, Millis(99), 10) == [timer("run", "sleep", 30)]


async def test_a_cleared_timer_is_gone_and_may_be_set_anew_in_the_same_write(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", timers=[timer("run", "a", 10), timer("run", "b", 10)]))
        again = owner.write("run", cleared=[TaskToken("a"), TaskToken("b")], timers=[timer("run", "b", 20)])
        await must(store, again, owner.write("other", cleared=[TaskToken("never set")]))
        assert await store.due(ALL, Millis(99), 10) == [timer("run", "b", 20)]


async def test_clear_all_drops_the_timers_of_that_run_before_new_ones_are_set(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        for name in ("run", "other"):
            parts = {"timers": [timer(name, "a"), timer(name, "b")], "approvals": [approval(name, "ask")]}
            await must(store, owner.write(name, **parts))
        withdrawn = ApprovalChange("withdrawn", NOW)
        fresh = {"timers": [timer("run", "a", 5)], "approvals": [withdrawn, approval("run", "ask anew")]}
        await must(store, owner.write("run", clear_all=True, **fresh))
        found = {(row.run_id, row.token, row.due) for row in await store.due(ALL, Millis(2_000), 10)}
        assert found == {("run", "a", 5), ("other", "a", 1_000), ("other", "b", 1_000)}
        assert {row.id for row in await open_approvals(store)} == {"run:ask anew", "other:ask"}


async def test_the_next_due_time_is_the_earliest(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        assert await store.next_due(ALL) is None
        await must(store, owner.write("run", timers=[timer("run", "a", 30), timer("run", "b", 20)]))
        assert await store.next_due(ALL) == 20
        assert await store.next_due(ALL, Millis(20)) == 30
        assert await store.next_due(ALL, Millis(30)) is None
        await must(store, owner.write("run", cleared=[TaskToken("b")]))
        assert await store.next_due(ALL) == 30


async def test_timers_of_other_shards_are_not_shown_and_take_no_place(backend: Backend):
    other = one_of_another_shard("run")
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write(other, timers=[timer(other, str(n), 1) for n in range(5)]))
        await must(store, owner.write("run", timers=[timer("run", "mine", 10)]))
        mine = {run_row("run").shard}
        assert [row.run_id for row in await store.due(mine, Millis(99), 3)] == [RunId("run")]
        assert await store.next_due(mine) == 10
        assert await store.due([], Millis(99), 3) == []
        assert await store.next_due([]) is None
