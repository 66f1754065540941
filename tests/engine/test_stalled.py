"""Runs that nothing will move are shown as such, and never ended."""

from __future__ import annotations

from msgspec.structs import replace

from plait import Context, workflow
from plait.kernel.ids import RunId, shard_of
from plait.kernel.store import RunFilter, RunPatch, Write
from plait.kernel.view import Reason
from plait.stores.memory import MemoryStore
from plait.testing import sim


@workflow
async def asking(ctx: Context) -> str:
    return (await ctx.approve("boss")).by


async def test_a_run_that_waits_for_a_person_is_not_stalled():
    async with sim([asking]) as s:
        run = await s.start(asking, id="a")
        await s.settle()
        await s.clock.advance(3_600)
        assert await s.engine.runs(RunFilter(namespace="default", stalled=True)) == []
        assert [reason.kind for reason in await run.waiting()] == ["approval"]


async def test_a_run_whose_row_says_that_it_waits_for_nothing_is_listed_after_five_minutes():
    store = MemoryStore()
    async with sim([asking], store=store) as s:
        await s.start(asking, id="a")
        await s.settle()
        found = await store.run(RunId("a"))
        assert found is not None
        epoch = s.engine.kernel.leases.epochs[shard_of(found.id)]
        patch = RunPatch(status="running", awake=False, waiting=Reason("join", "join `merge`"))
        assert await store.commit([Write(found.id, found.shard, epoch, patch=patch)]) == ["ok"]
        query = RunFilter(namespace="default", stalled=True)
        assert await s.engine.runs(query) == []
        await s.clock.advance(301)
        assert [row.id for row in await s.engine.runs(query)] == ["a"]
        assert await s.engine.runs(replace(query, namespace="acme")) == []
    await store.dispose()
