"""Tasks on queues: each goes to one worker at a time, and only who holds its claim can end it."""

import asyncio
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from plait.kernel import values
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.queued import HeldTask, QueueLength, Terms
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import (
    ALL,
    LONG,
    NONE,
    claim_of,
    claim_request,
    enqueue,
    finishing,
    keys,
    must,
    one_of_another_shard,
    own_all,
    queued_task,
)

CLAIM = claim_of("run")


def _tokens(held: list[HeldTask]) -> list[str]:
    return [each.task.token for each in held]


async def test_a_task_comes_back_as_it_was_queued(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        task = queued_task(
            "run",
            timeout=Millis(5_000),
            heartbeat=Millis(700),
            terms=Terms(retry_on_timeout=True, never=["app:Refused"]),
            progress=values.encode({"page": 3}),
            blobs='{"0.arguments/page":"cas://sha256:x"}',
        )
        await enqueue(store, owner, task)
        [held] = await store.queues.claim(claim_request())
        assert held.task == task
        assert (held.claim, held.worker, held.lease) == ("c1", "worker of c1", LONG)
        assert held.claimed_at is not None


async def test_tasks_are_claimed_in_the_order_they_came_and_once(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, *(queued_task(f"run-{n}", f"t{n}") for n in range(5)))
        assert _tokens(await store.queues.claim(claim_request("a", limit=2))) == ["t0", "t1"]
        assert _tokens(await store.queues.claim(claim_request("b", limit=2))) == ["t2", "t3"]
        assert _tokens(await store.queues.claim(claim_request("c", limit=2))) == ["t4"]
        assert await store.queues.claim(claim_request("d")) == []


async def test_workers_that_claim_at_once_share_the_tasks(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, *(queued_task("run", f"t{n}") for n in range(40)))
        requests = [claim_request(f"c{n}", limit=3) for n in range(20)]
        found = await asyncio.gather(*(store.queues.claim(request) for request in requests))
        tokens = [token for held in found for token in _tokens(held)]
        assert sorted(tokens) == sorted(f"t{n}" for n in range(40))


async def test_a_worker_gets_what_it_asked_for(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(
            store,
            owner,
            queued_task("run", "mine"),
            queued_task("run", "other-queue", queue="cpu"),
            queued_task("run", "other-kind", kind="http"),
            queued_task("run", "other-handler", handler="resize"),
            queued_task("other", "other-namespace", namespace="acme"),
        )
        picky = claim_request(kinds=["python"], handlers=["render"])
        assert _tokens(await store.queues.claim(picky)) == ["mine"]
        assert _tokens(await store.queues.claim(claim_request("b", namespace="acme"))) == ["other-namespace"]
        wide = claim_request("c", queues=["cpu", "gpu"])
        assert sorted(_tokens(await store.queues.claim(wide))) == ["other-handler", "other-kind", "other-queue"]


async def test_lower_priorities_go_first(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run", "later", priority=5), queued_task("run", "first"))
        assert _tokens(await store.queues.claim(claim_request())) == ["first", "later"]


async def test_a_result_ends_the_task_and_is_in_the_inbox(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run"))
        await store.queues.claim(claim_request())
        await must(store, finishing("run"))
        assert await store.queues.held(RunId("run")) == []
        assert keys(await store.inbox(ALL, 10)) == ["~task:c1"]


async def test_a_result_that_is_sent_again_is_known(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run"))
        await store.queues.claim(claim_request())
        await must(store, finishing("run"))
        assert await store.commit([finishing("run")]) == ["exists"]
        assert keys(await store.inbox(ALL, 10)) == ["~task:c1"]


async def test_only_the_holder_of_the_claim_ends_a_task(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run"))
        assert await store.commit([finishing("run")]) == ["conflict"], "nobody has claimed it"
        await store.queues.claim(claim_request())
        assert await store.commit([finishing("run", claim="c2")]) == ["conflict"]
        assert await store.commit([finishing("run", "another")]) == ["conflict"]
        assert await store.inbox(ALL, 10) == []
        assert len(await store.queues.held(RunId("run"))) == 1


@pytest.mark.parametrize("wrong", [{"opening": 3}, {"attempt": 2}])
async def test_a_claim_is_of_one_attempt_and_ends_no_other(backend: Backend, wrong: dict[str, Any]):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run"))
        await store.queues.claim(claim_request())
        other = replace(finishing("run"), finished=claim_of("run", **wrong))
        assert await store.commit([other]) == ["conflict"]
        assert not await store.queues.beat(claim_of("run", **wrong), Raw(b"1"))
        assert not await store.queues.release(claim_of("run", **wrong))
        assert await store.inbox(ALL, 10) == []
        assert await store.commit([finishing("run")]) == ["ok"]


async def test_a_claim_that_is_lost_takes_no_neighbour_of_its_commit_down(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("a"), queued_task("b"), queued_task("c"))
        await store.queues.claim(claim_request())
        late, again = finishing("b", claim="old"), finishing("c", key="again")
        verdicts = await store.commit([finishing("a"), late, finishing("c"), again])
        assert verdicts == ["ok", "conflict", "ok", "conflict"]
        assert sorted(row.run_id for row in await store.inbox(ALL, 10)) == ["a", "c"]


async def test_results_of_one_run_come_in_order_beside_its_own_decision(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, *(queued_task("run", f"t{n}") for n in range(4)), queued_task("other"))
        await store.queues.claim(claim_request())
        results = [finishing("run", f"t{n}", key=f"r{n}") for n in range(4)]
        decision = owner.write("run", dequeued=[TaskToken("t3")])
        verdicts = await store.commit([*results[:3], decision, results[3], finishing("other")])
        assert verdicts == ["ok", "ok", "ok", "ok", "conflict", "ok"]
        assert keys(await store.inbox(ALL, 10)) == ["r0", "r1", "r2", "~task:c1"]
        assert await store.queues.held(RunId("run")) == []


async def test_the_next_attempt_takes_the_place_of_the_one_before(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run"), queued_task("run", "another"))
        await store.queues.claim(claim_request(limit=1))
        second = queued_task("run", attempt=2, opening=7)
        await enqueue(store, owner, second)
        assert await store.commit([finishing("run")]) == ["conflict"]
        assert not await store.queues.beat(CLAIM, None)
        held = await store.queues.claim(claim_request("c2"))
        assert _tokens(held) == ["another", "render"], "it waits at the end"
        assert held[1].task == second


async def test_a_revoked_task_is_nobodys(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run"))
        await store.queues.claim(claim_request())
        await must(store, owner.write("run", dequeued=[TaskToken("render"), TaskToken("unknown")]))
        assert await store.queues.held(RunId("run")) == []
        assert not await store.queues.beat(CLAIM, None)
        assert not await store.queues.release(CLAIM)
        assert await store.commit([finishing("run")]) == ["conflict"]


async def test_one_commit_revokes_and_queues_again(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run"))
        again = queued_task("run", opening=9)
        await must(store, owner.write("run", dequeued=[TaskToken("render")], queued=[again]))
        assert [held.task for held in await store.queues.held(RunId("run"))] == [again]


async def test_a_released_task_goes_to_the_next_worker_in_the_same_attempt(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        task = queued_task("run")
        await enqueue(store, owner, task)
        await store.queues.claim(claim_request())
        assert await store.queues.release(CLAIM)
        assert not await store.queues.release(CLAIM)
        [held] = await store.queues.held(RunId("run"))
        assert held == HeldTask(task)
        [held] = await store.queues.claim(claim_request("c2"))
        assert (held.task, held.claim) == (task, "c2")
        assert await store.commit([finishing("run")]) == ["conflict"]


async def test_a_claim_expires_with_its_lease_unless_it_is_renewed(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run"))
        assert not (await store.queues.expired(ALL, 10)).claims
        await store.queues.claim(claim_request(lease=NONE))
        found = await store.queues.expired(ALL, 10)
        [claim] = found.claims
        assert (claim.run_id, claim.token, claim.opening, claim.worker) == ("run", "render", 2, "worker of c1")
        assert claim.why == "lease"
        assert found.any_left


async def test_progress_is_kept_for_the_next_attempt(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run"))
        await store.queues.claim(claim_request(lease=NONE))
        assert await store.queues.beat(CLAIM, Raw(b'{"page":4}'))
        assert await store.queues.beat(CLAIM, None), "a sign of life without progress takes none away"
        [claim] = (await store.queues.expired(ALL, 10)).claims
        assert values.decode(claim.progress) == {"page": 4}


async def test_a_task_that_wants_heartbeats_expires_without_them(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        eager = queued_task("run", "eager", heartbeat=NONE)
        await enqueue(store, owner, eager, replace(eager, token=TaskToken("calm"), heartbeat=LONG))
        await store.queues.claim(claim_request())
        assert [(each.token, each.why) for each in (await store.queues.expired(ALL, 10)).claims] == [
            ("eager", "heartbeat")
        ]


async def test_a_heartbeat_does_not_extend_a_timeout(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run", timeout=Millis(-60_000)))
        await store.queues.claim(claim_request())
        assert await store.queues.beat(CLAIM, None)
        [claim] = (await store.queues.expired(ALL, 10)).claims
        assert claim.why == "timeout"


async def test_expired_claims_are_looked_for_by_shard(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        elsewhere = one_of_another_shard("run")
        await enqueue(store, owner, queued_task("run"), queued_task(elsewhere))
        await store.queues.claim(claim_request(lease=NONE))
        mine = await store.queues.expired([queued_task("run").shard], 10)
        assert [claim.run_id for claim in mine.claims] == ["run"]
        none = {queued_task("run").shard, queued_task(elsewhere).shard}
        nothing = await store.queues.expired([shard for shard in ALL if shard not in none], 10)
        assert not nothing.claims
        assert not nothing.any_left


async def test_workers_are_seen_for_a_while_by_queue_and_namespace(backend: Backend):
    async with opened(backend) as store:
        await store.queues.note_worker("default", ["gpu", "cpu", "gpu"], "w1")
        await store.queues.note_worker("default", ["gpu"], "w2")
        await store.queues.note_worker("default", ["gpu"], "w2")
        await store.queues.note_worker("acme", ["gpu"], "w3")
        seen = await store.queues.workers("default", LONG)
        assert [(each.queue, each.worker) for each in seen] == [("cpu", "w1"), ("gpu", "w1"), ("gpu", "w2")]
        assert await store.queues.workers("default", Millis(-60_000)) == []


async def test_a_fenced_owner_queues_nothing(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store, ttl=NONE)
        await own_all(store, "next")
        assert await store.commit([owner.write("run", queued=[queued_task("run")])]) == ["fenced"]
        assert await store.queues.held(RunId("run")) == []


async def test_of_several_queues_the_first_is_emptied_first(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await enqueue(store, owner, *(queued_task("run", f"b{n}", queue="second") for n in range(3)))
        await enqueue(store, owner, *(queued_task("run", f"a{n}", queue="first") for n in range(3)))
        found = await store.queues.claim(claim_request(queues=["first", "second"], limit=4))
        assert sorted(_tokens(found)) == ["a0", "a1", "a2", "b0"]


async def test_queues_with_free_tasks_are_listed_once_each(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        assert await store.queues.unclaimed() == []
        places = [("acme", "gpu"), ("default", "cpu"), ("default", "gpu"), ("default", "gpu")]
        tasks = [queued_task(f"run-{n}", namespace=space, queue=name) for n, (space, name) in enumerate(places)]
        await enqueue(store, owner, *tasks)
        assert await store.queues.unclaimed() == [("acme", "gpu"), ("default", "cpu"), ("default", "gpu")]
        await store.queues.claim(replace(claim_request(limit=9), queues=["gpu"]))
        assert await store.queues.unclaimed() == [("acme", "gpu"), ("default", "cpu")]
        assert await store.queues.lengths() == [
            QueueLength("acme", "gpu", waiting=1, claimed=0),
            QueueLength("default", "cpu", waiting=1, claimed=0),
            QueueLength("default", "gpu", waiting=0, claimed=2),
        ]
