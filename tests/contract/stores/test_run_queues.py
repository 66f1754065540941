"""Runs on queues: each waits for a slot, holds it while it runs, and no limit is passed, whoever admits."""

import asyncio
from typing import Any

from msgspec.structs import replace

from plait.kernel.admission import QueueSettings
from plait.kernel.ids import Millis, RunId, shard_of
from plait.kernel.run_queues import QueuedRun
from plait.kernel.store import Store, Taken, Verdict, Write
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import (
    ALL,
    LONG,
    NOW,
    Owner,
    claim_of,
    claim_request,
    dead_letter,
    ended,
    enqueue,
    finishing,
    keys,
    log_row,
    message,
    must,
    outside,
    own_all,
    queued_task,
    run_row,
)

HOUR = Millis(3_600_000)
CENTURY = Millis(100 * 366 * 24 * HOUR)


def waiting(run_id: str, queue: str = "q", **options: Any) -> Write:
    """A run that is put on a queue."""
    place = QueuedRun(namespace="default", queue=queue, **options)
    return outside(run_id, create=run_row(run_id, awake=False), inbox=[message(run_id, "~start")], place=place)


async def put(store: Store, *run_ids: str, **options: Any) -> None:
    await must(store, *(waiting(run_id, **options) for run_id in run_ids))


async def admitted(store: Store, queue: str = "q", limit: int = 100) -> list[str]:
    return list((await store.run_queues.admit("default", queue, limit)).admitted)


async def limit(store: Store, queue: str = "q", **settings: Any) -> None:
    await store.run_queues.change("default", queue, lambda _: QueueSettings(**settings))


async def end(store: Store, owner: Owner, run_id: str) -> None:
    await must(store, owner.write(run_id, log=log_row(), patch=ended()))


async def test_a_run_on_a_queue_starts_when_it_is_admitted(backend: Backend):
    async with opened(backend) as store:
        await put(store, "run")
        assert await store.inbox(ALL, 10) == []
        assert await admitted(store) == ["run"]
        assert keys(await store.inbox(ALL, 10)) == ["~start"]
        assert await admitted(store) == []


async def test_no_more_runs_are_admitted_than_there_are_slots(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await limit(store, concurrency=2)
        await put(store, "a", "b", "c", "d")
        assert await admitted(store) == ["a", "b"]
        assert (await store.run_queues.admit("default", "q", 10)).left
        assert await admitted(store) == []
        await end(store, owner, "a")
        assert await admitted(store) == ["c"]


async def test_a_removed_run_gives_its_slot_back(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await limit(store, concurrency=1)
        await put(store, "a", "b")
        await admitted(store)
        await must(store, owner.write("a", taken=[Taken("~start")], log=log_row(), patch=ended()))
        await must(store, owner.write("a", removal=Millis(NOW + 10)))
        assert await admitted(store) == ["b"]


async def test_many_that_admit_at_once_pass_no_limit(shared_backend: Backend):
    async with opened(shared_backend) as store:
        await limit(store, concurrency=5)
        await put(store, *(f"run-{n:02}" for n in range(30)))
        rounds = await asyncio.gather(*(store.run_queues.admit("default", "q", 3) for _ in range(6)))
        assert sorted(run_id for each in rounds for run_id in each.admitted) == [f"run-{n:02}" for n in range(5)]


async def test_lower_priorities_go_first_and_then_those_that_came_first(backend: Backend):
    async with opened(backend) as store:
        await must(
            store,
            waiting("late", priority=1),
            waiting("first", priority=0),
            waiting("urgent", priority=-5),
            waiting("second", priority=0),
        )
        assert [await admitted(store, limit=1) for _ in range(4)] == [["urgent"], ["first"], ["second"], ["late"]]


async def test_each_key_of_a_partitioned_queue_has_its_own_slots(backend: Backend):
    async with opened(backend) as store:
        await limit(store, concurrency=1, partitioned=True)
        await put(store, *(f"a{n:03}" for n in range(150)), partition="a")
        await put(store, "b1", "b2", partition="b")
        assert sorted(await admitted(store)) == ["a000", "b1"]
        assert await admitted(store) == []


async def test_no_more_runs_start_in_a_period_than_the_rate_allows(backend: Backend):
    async with opened(backend) as store:
        await limit(store, rate=2, period=HOUR)
        await put(store, "a", "b", "c")
        found = await store.run_queues.admit("default", "q", 10)
        assert found.admitted == ["a", "b"]
        assert found.wait is not None
        assert HOUR - 60_000 < found.wait <= HOUR
        assert await admitted(store) == []


async def test_settings_that_two_processes_change_at_once_have_both_changes(backend: Backend):
    """Who pauses a queue while another sets its limits must not find it at work again."""
    async with opened(backend) as store, opened(backend) as other:

        def one_more(known: QueueSettings) -> QueueSettings:
            return replace(known, concurrency=(known.concurrency or 0) + 1)

        await asyncio.gather(*(each.run_queues.change("default", "q", one_more) for each in [store, other] * 10))
        assert await store.run_queues.settings("default", "q") == QueueSettings(concurrency=20)


async def test_the_limits_of_all_queues_together_hold_too(backend: Backend):
    async with opened(backend) as store:
        await limit(store, "*", concurrency=2)
        await put(store, "a", "b", queue="q")
        await put(store, "c", "d", queue="r")
        assert await admitted(store, "q", 1) == ["a"]
        assert await admitted(store, "r") == ["c"]
        assert await admitted(store, "q") == []


async def test_a_paused_queue_admits_nothing_until_it_is_resumed(backend: Backend):
    async with opened(backend) as store:
        await limit(store, paused=True)
        await put(store, "a")
        assert await admitted(store) == []
        await limit(store)
        assert await admitted(store) == ["a"]


async def test_a_delayed_run_waits_and_says_until_when(backend: Backend):
    async with opened(backend) as store:
        await put(store, "later", delay=CENTURY)
        found = await store.run_queues.admit("default", "q", 10)
        assert (found.admitted, found.left) == ([], False)
        assert found.wait is not None
        assert 0 < found.wait <= CENTURY
        place = await store.run_queues.place(RunId("later"))
        assert place is not None
        assert place.due is not None
        assert await store.run_queues.queues() == [("default", "q")]


async def test_a_dedup_id_is_one_run_while_that_waits_or_runs(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await put(store, "first", dedup_id="x")
        refused: list[Verdict] = ["exists"]
        assert await store.commit([waiting("second", dedup_id="x")]) == refused
        assert await store.run(RunId("second")) is None
        assert await store.run_queues.holder("default", "q", "x") == "first"
        await must(store, waiting("elsewhere", "other", dedup_id="x"))
        await admitted(store)
        assert await store.commit([waiting("second", dedup_id="x")]) == refused
        await end(store, owner, "first")
        assert await store.run_queues.holder("default", "q", "x") is None
        await must(store, waiting("second", dedup_id="x"))


async def test_a_debounced_run_gets_the_new_start_while_it_waits(backend: Backend):
    async with opened(backend) as store:
        await put(store, "run", dedup_id="x", debounced=True)
        again = outside("run", inbox=[message("run", "~start", body="newer")], debounce=Millis(1))
        await must(store, again)
        while await store.run_queues.place(RunId("run")) is not None:
            await admitted(store)
        [start] = await store.inbox(ALL, 10)
        assert (start.key, start.body) == ("~start", b'"newer"')
        gone: list[Verdict] = ["conflict"]
        assert await store.commit([again]) == gone
        await must(store, waiting("next", dedup_id="x", debounced=True))


async def test_what_is_sent_to_a_waiting_run_comes_after_its_start(backend: Backend):
    async with opened(backend) as store:
        await put(store, "run")
        await must(store, outside("run", inbox=[replace(message("run", "hello"), behind=True)]))
        letter = dead_letter("run", "sender")
        await must(store, outside("run", inbox=[message("run", "from a run", fallback=letter)]))
        assert await store.inbox(ALL, 10) == []
        assert await store.reply(RunId("run"), "hello") is None
        await admitted(store)
        assert keys(await store.inbox(ALL, 10)) == ["~start", "hello", "from a run"]


async def test_a_message_to_a_run_that_was_admitted_goes_to_its_owner(backend: Backend):
    async with opened(backend) as store:
        await put(store, "run")
        await admitted(store)
        await must(store, outside("run", inbox=[replace(message("run", "hello"), behind=True)]))
        assert keys(await store.inbox(ALL, 10)) == ["~start", "hello"]


async def test_a_run_that_is_cancelled_while_it_waits_takes_no_slot(backend: Backend):
    async with opened(backend) as store:
        await limit(store, concurrency=1)
        await put(store, "gone", "next")
        await must(store, outside("gone", inbox=[message("gone", "cancel")], leaves_queue=True))
        assert keys(await store.inbox(ALL, 10)) == ["~start", "cancel"]
        assert await admitted(store) == ["next"]
        [holder] = await store.run_queues.holders("default", "q", 10)
        assert (holder.kind, holder.run_id, holder.label) == ("run", "next", "order")


async def test_runs_whose_deadlines_passed_while_they_waited_are_told(backend: Backend):
    async with opened(backend) as store:
        await limit(store, paused=True)
        await put(store, "over", deadline=Millis(1))
        await put(store, "in time", deadline=Millis(2**52))
        assert (await store.run_queues.admit("default", "q", 10)).overdue == ["over"]


async def test_a_waiting_run_says_what_it_waits_for(backend: Backend):
    async with opened(backend) as store:
        await limit(store, concurrency=1)
        await put(store, "a", "b", "c")
        await admitted(store)
        place = await store.run_queues.place(RunId("c"))
        assert place is not None
        assert (place.queue, place.ahead, place.why) == ("q", 1, "1 of 1 slots taken")
        assert await store.run_queues.place(RunId("a")) is None


async def test_the_state_of_queues_counts_what_waits_and_works(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await limit(store, "gpu", concurrency=1)
        await put(store, "a", "b", queue="gpu")
        await put(store, "c", queue="gpu", delay=CENTURY)
        await admitted(store, "gpu")
        await enqueue(store, owner, queued_task("a", "t1"), queued_task("a", "t2"))
        await store.queues.claim(claim_request(limit=1))
        [state] = await store.run_queues.states("default")
        assert (state.name, state.settings) == ("gpu", QueueSettings(concurrency=1))
        assert (state.waiting_runs, state.delayed_runs, state.running_runs) == (1, 1, 1)
        assert (state.waiting_tasks, state.running_tasks) == (1, 1)
        holders = await store.run_queues.holders("default", "gpu", 10)
        assert [(each.kind, each.run_id, each.worker) for each in holders] == [
            ("run", "a", None),
            ("task", "a", "worker of c1"),
        ]
        assert await store.run_queues.waiting("default", "gpu", None) == 2
        assert await store.run_queues.waiting("default", "*", "other") == 0


# -- tasks ------------------------------------------------------------------------------------------------------------


async def _claim(store: Store, claim: str, **changes: Any) -> list[str]:
    return [held.task.token for held in await store.queues.claim(claim_request(claim, **changes))]


async def test_no_more_tasks_are_claimed_than_there_are_slots(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await limit(store, "gpu", concurrency=3, per_worker=2)
        await enqueue(store, owner, *(queued_task("run", f"t{n}") for n in range(6)))
        assert await _claim(store, "c1", worker="w1") == ["t0", "t1"]
        assert await _claim(store, "c2", worker="w1") == []
        assert await _claim(store, "c3", worker="w2") == ["t2"]
        assert await _claim(store, "c4", worker="w3") == []
        await must(store, finishing("run", "t0", "c1"))
        assert await store.queues.release(claim_of("run", "t1"))
        assert await _claim(store, "c5", worker="w3") == ["t1", "t3"]


async def test_tasks_that_were_claimed_before_count_too(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, *(queued_task("run", f"t{n}") for n in range(3)))
        assert await _claim(store, "c1", limit=1) == ["t0"]
        await limit(store, "gpu", concurrency=1)
        assert await _claim(store, "c2") == []


async def test_workers_that_claim_at_once_pass_no_limit(shared_backend: Backend):
    async with opened(shared_backend) as store:
        owner = await own_all(store)
        await limit(store, "gpu", concurrency=4)
        await enqueue(store, owner, *(queued_task("run", f"t{n}") for n in range(20)))
        found = await asyncio.gather(*(_claim(store, f"c{n}", limit=3) for n in range(6)))
        assert sum(map(len, found)) == 4


async def test_no_more_tasks_begin_in_a_period_than_the_rate_allows(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await limit(store, "gpu", rate=2, period=HOUR)
        await enqueue(store, owner, *(queued_task("run", f"t{n}") for n in range(4)))
        assert await _claim(store, "c1") == ["t0", "t1"]
        await must(store, finishing("run", "t0", "c1"))
        assert await _claim(store, "c2") == []


async def test_a_worker_gets_tasks_of_its_queues_in_the_order_that_it_names_them_also_with_limits(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await limit(store, "gpu", concurrency=2)
        await enqueue(store, owner, *(queued_task("run", f"{q}{n}", queue=q) for q in ("cpu", "gpu") for n in range(4)))
        request = claim_request("c1", queues=["gpu", "cpu"], limit=3)
        assert [held.task.token for held in await store.queues.claim(request)] == ["gpu0", "gpu1", "cpu0"]
        request = claim_request("c2", queues=["cpu", "gpu"], limit=2)
        assert [held.task.token for held in await store.queues.claim(request)] == ["cpu1", "cpu2"]


async def test_tasks_go_by_priority_and_keep_the_limits_of_their_keys(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await limit(store, "gpu", concurrency=1, partitioned=True)
        await enqueue(
            store,
            owner,
            queued_task("run", "a1", partition="a"),
            queued_task("run", "a2", partition="a", priority=-1),
            queued_task("run", "b1", partition="b"),
        )
        assert await _claim(store, "c1") == ["a2", "b1"]


async def test_tasks_of_a_paused_queue_wait(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await limit(store, "gpu", paused=True)
        await enqueue(store, owner, queued_task("run"))
        assert await _claim(store, "c1") == []
        assert await store.queues.limited("default", ["gpu"])
        assert not await store.queues.limited("elsewhere", ["gpu"])


async def test_the_limits_of_all_queues_together_hold_for_one_claim(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await limit(store, "*", concurrency=2)
        await enqueue(store, owner, *(queued_task("run", f"t{n}", queue=q) for n, q in enumerate(["gpu", "cpu"] * 2)))
        assert len(await _claim(store, "c1", queues=["gpu", "cpu"])) == 2
        assert await _claim(store, "c2", queues=["gpu", "cpu"], lease=LONG) == []


async def test_an_engine_gets_no_more_runs_than_one_may_have(backend: Backend):
    async with opened(backend) as store:
        first = {lease.shard for lease in await store.claim("first", LONG, 32)}
        await store.claim("second", LONG, 32)
        await limit(store, per_worker=2)
        await put(store, *(f"run-{n:02}" for n in range(40)))
        begun = await admitted(store)
        assert sorted(shard_of(RunId(run_id)) in first for run_id in begun) == [False, False, True, True]
        assert await admitted(store) == []
        place = await store.run_queues.place(RunId("run-39"))
        assert place is not None
        assert place.why == "2 of 2 slots of its process taken"
