"""Tasks on queues of PostgreSQL, by what its own clock says."""

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
