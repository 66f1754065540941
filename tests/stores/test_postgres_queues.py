"""Tasks on queues of PostgreSQL, by what its own clock says."""

from plait.kernel.admission import QueueSettings
from plait.kernel.ids import Millis
from tests.contract.stores.builders import ALL, claim_of, claim_request, enqueue, own_all, queued_task
from tests.stores.looking_in import looking_in, opened_at

AN_HOUR = 3_600_000
LATER = "update plait.queued_tasks set claimed_at = claimed_at + $1, expires = expires + $1, deadline = deadline + $1"
LEFT = "select expires - plait.ms(clock_timestamp()) from plait.queued_tasks"


async def test_a_clock_that_is_set_back_leaves_a_claim_no_more_than_its_lease(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as database:
        await enqueue(store, await own_all(store), queued_task("run"))
        [held] = await store.queues.claim(claim_request())
        assert held.lease is not None
        await database.execute(LATER, AN_HOUR)
        assert await database.fetchval(LEFT) > held.lease
        assert not (await store.queues.expired(ALL, 10)).claims, "its worker may be alive"
        assert await database.fetchval(LEFT) <= held.lease
        assert await store.queues.beat(claim_of("run"), None)


async def test_an_engine_claims_what_it_has_the_code_for_in_all_namespaces_and_no_other(postgres_url: str):
    async with opened_at(postgres_url) as store:
        tasks = [
            queued_task("one", code="graph:pack"),
            queued_task("two", code="graph:pack", namespace="shop", queue="heavy", priority=-1),
            queued_task("three", code="graph:send"),
            queued_task("four"),
        ]
        await enqueue(store, await own_all(store), *tasks)
        first = await store.queues.claim(claim_request("e1", namespace="", queues=(), code=["graph:pack"], limit=1))
        assert [held.task.run_id for held in first] == ["two"]
        rest = await store.queues.claim(claim_request("e2", namespace="", queues=(), code=["graph:pack"]))
        assert [held.task.run_id for held in rest] == ["one"]
        assert await store.queues.claim(claim_request("e3", namespace="", queues=(), code=["graph:pack"])) == []
        workers = await store.queues.claim(claim_request("w1"))  # workers take whatever is free
        assert [held.task.run_id for held in workers] == ["three", "four"]


async def test_a_task_that_is_enqueued_again_without_code_is_for_workers_alone(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await enqueue(store, owner, queued_task("run", code="graph:pack"))
        await enqueue(store, owner, queued_task("run", attempt=2, opening=4))
        assert await store.queues.claim(claim_request("e1", namespace="", queues=(), code=["graph:pack"])) == []


async def test_an_engine_takes_tasks_of_each_namespace_by_turns(postgres_url: str):
    async with opened_at(postgres_url) as store:
        hog = [queued_task(f"hog-{n:02}", code="graph:pack", namespace="hog", priority=-1) for n in range(30)]
        quiet = [queued_task(f"quiet-{n}", code="graph:pack", namespace="quiet") for n in range(2)]
        owner = await own_all(store)
        await enqueue(store, owner, *hog, *quiet)
        request = claim_request("e1", namespace="", queues=(), code=["graph:pack"], limit=4)
        found = [held.task.run_id for held in await store.queues.claim(request)]
        assert sorted(found) == ["hog-00", "hog-01", "quiet-0", "quiet-1"]
        await enqueue(store, owner, queued_task("late", code="graph:pack", namespace="late"))
        assert {held.task.namespace for held in await store.queues.claim(request)} == {"hog", "late"}


async def test_a_backlog_keeps_an_engine_from_no_queue_with_limits_nor_such_a_queue_from_others(postgres_url: str):
    async with opened_at(postgres_url) as store:
        tasks = [queued_task(f"{q}-{n}", code="graph:pack", queue=q) for q in ("free", "one", "two") for n in range(20)]
        await enqueue(store, await own_all(store), *tasks)
        for queue in ("one", "two"):
            await store.run_queues.change("default", queue, lambda _: QueueSettings(concurrency=20))
        found: set[str] = set()
        for turn in range(3):
            request = claim_request(f"e{turn}", namespace="", queues=(), code=["graph:pack"], limit=5)
            found |= {held.task.queue for held in await store.queues.claim(request)}
        assert found == {"free", "one", "two"}


async def test_a_rate_counts_starts_that_a_clock_set_back_left_in_the_future_for_one_period(postgres_url: str):
    async with opened_at(postgres_url) as store, looking_in(postgres_url) as database:
        await store.run_queues.change("default", "gpu", lambda _: QueueSettings(rate=1, period=Millis(1)))
        await enqueue(store, await own_all(store), queued_task("one"), queued_task("two"))
        assert len(await store.queues.claim(claim_request("c1"))) == 1
        await database.execute("update plait.queue_starts set at = at + $1", AN_HOUR)
        assert await store.queues.claim(claim_request("c2")) == [], "it may be a moment ago"
        found: list[object] = []
        while not found:
            found = list(await store.queues.claim(claim_request("c3")))
