"""Tasks on queues of PostgreSQL, by what its own clock says."""

from plait.kernel.ids import TaskToken
from plait.kernel.queued import Claim
from tests.contract.stores.builders import ALL, RunId, claim_request, enqueue, own_all, queued_task
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
        assert await store.queues.beat(Claim(RunId("run"), TaskToken("render"), "c1"), None)
