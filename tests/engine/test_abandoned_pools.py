"""Retention in a mixed fleet: ended runs go, also those whose code no engine has any more, and then their pools."""

import asyncio
from typing import Any

import pytest

from plait import Context, Engine, Handle, Undo, step, workflow
from plait.api.retention import RetentionRules
from plait.errors import NotFound
from plait.kernel.ids import SHARDS, Millis, RunId
from tests.engine.fleets import engine, share, until

MANY = 16
AT_ONCE = Millis(0)


@workflow(version="v1")
async def order(ctx: Context) -> str:
    return "v1"


@workflow(name="order", version="v2")
async def order_v2(ctx: Context) -> str:
    return "v2"


@workflow(name="order", version="v3")
async def order_v3(ctx: Context) -> str:
    return "v3"


@workflow(name="waiting", version="v2")
async def waiting(ctx: Context) -> Any:
    found = await ctx.listen("go")
    return found and found.body


@step(queue="gpu")
async def render() -> None: ...


@workflow(name="by_worker", version="v1")
async def by_worker(ctx: Context) -> None:
    await ctx.step("render", render)


@workflow(name="by_worker", version="v2")
async def by_worker_v2(ctx: Context) -> None:
    await ctx.step("render", render)


UNDONE = asyncio.Event()


async def give_back(undo: Undo) -> None:
    await UNDONE.wait()


@step(rollback=give_back)
async def take() -> str:
    return "taken"


@workflow(name="undoing", version="v2")
async def undoing(ctx: Context) -> None:
    await ctx.step("take", take)
    raise ValueError("no")


async def pools(one: Engine) -> list[str]:
    assert one.kernel.store.fleet is not None
    return [pool.code for pool in await one.kernel.store.fleet.pools()]


async def run_elsewhere(url: str, other: Engine, definition: Any, name: str) -> None:
    """By an engine that leaves; those whose shards the other owns have moved to a pool."""
    async with engine(url, definition) as having:
        await share(other, having)
        handles = [await having.start(definition, id=f"{name}-{number}") for number in range(MANY)]
        await asyncio.gather(*(handle.result() for handle in handles))
        assert any([(await handle.row()).shard >= SHARDS for handle in handles])


async def are_gone(one: Engine, name: str) -> bool:
    found = 0
    for number in range(MANY):
        try:
            await one.get(f"{name}-{number}")
            found += 1
        except NotFound:
            pass
    return not found


async def test_ended_runs_whose_code_is_gone_are_removed_and_their_pool_after_them(postgres_url: str):
    async with engine(postgres_url, order) as other:
        await run_elsewhere(postgres_url, other, order_v2, "two")
        await run_elsewhere(postgres_url, other, order_v3, "three")
        assert await pools(other) == ["order@v2", "order@v3"]
        await share(other)
        await other.retention.set(RetentionRules(completed=AT_ONCE))
        assert await other.retention.apply() == 2 * MANY
        assert await are_gone(other, "two")
        assert await are_gone(other, "three")
        assert await pools(other) == ["order@v3"]
        await run_elsewhere(postgres_url, other, order_v2, "again")
        assert await pools(other) == ["order@v2", "order@v3"]


async def test_a_run_that_waits_for_its_code_stays_and_goes_on_when_that_comes(postgres_url: str):
    async with engine(postgres_url, order) as other:
        async with engine(postgres_url, waiting) as having:
            await share(other, having)
            handles = [await having.start(waiting, id=f"waiting-{number}") for number in range(MANY)]
            await until(lambda: _is_pooled(handles))
        await share(other)
        await other.retention.set(RetentionRules(completed=AT_ONCE, failed=AT_ONCE, cancelled=AT_ONCE))
        await other.retention.apply()
        async with engine(postgres_url, waiting) as back:
            found = [await back.get(handle.id) for handle in handles]
            for handle in found:
                await handle.message("go", handle.id)
            assert await asyncio.gather(*(handle.result() for handle in found)) == [handle.id for handle in handles]


async def _is_pooled(handles: list[Handle[Any]]) -> bool:
    return any([(await handle.row()).shard >= SHARDS for handle in handles])


async def test_what_is_sent_to_an_ended_run_whose_code_is_gone_is_answered(postgres_url: str):
    async with engine(postgres_url, order) as other:
        await run_elsewhere(postgres_url, other, order_v2, "two")
        await share(other)
        for number in range(MANY):
            handle = await other.get(f"two-{number}")
            with pytest.raises(Exception, match=r"ended|completed"):
                await asyncio.wait_for(handle.message("go", 1), 20)


async def test_a_run_whose_code_is_gone_can_be_cancelled(postgres_url: str):
    """Wherever it is: in a pool, or where its id says."""
    async with engine(postgres_url, order) as other:
        async with engine(postgres_url, waiting) as having:
            await share(other, having)
            handles = [await having.start(waiting, id=f"waiting-{number}") for number in range(MANY)]
            await until(lambda: _is_pooled(handles))
        await share(other)
        found = [await other.get(handle.id) for handle in handles]
        await found[0].message("go", "before it is cancelled")
        await asyncio.gather(*(handle.cancel("not wanted") for handle in found))

        async def ended() -> bool:
            await other.retention.apply()
            return all([(await handle.row()).status == "cancelled" for handle in found])

        await until(ended)
        assert all([(await handle.row()).shard < SHARDS for handle in found])
        async with engine(postgres_url, waiting):
            assert {(await handle.row()).status for handle in found} == {"cancelled"}


async def test_a_cancel_of_an_ended_run_whose_code_is_gone_does_not_keep_it_for_good(postgres_url: str):
    async with engine(postgres_url, order) as other:
        await run_elsewhere(postgres_url, other, order_v2, "two")
        await share(other)
        handles = [await other.get(f"two-{number}") for number in range(MANY)]
        await asyncio.gather(*(handle.cancel() for handle in handles))
        await other.retention.set(RetentionRules(completed=AT_ONCE))

        async def gone() -> bool:
            await other.retention.apply()
            return await are_gone(other, "two")

        await until(gone)


async def test_a_worker_that_died_with_a_task_of_a_run_whose_code_is_gone_holds_no_slot(postgres_url: str):
    async with engine(postgres_url, by_worker) as other:
        await other.queues.set("gpu", concurrency=1)
        async with engine(postgres_url, by_worker_v2) as having:
            await share(other, having)
            handles = [await having.start(by_worker_v2, id=f"run-{number}") for number in range(MANY)]
            await until(lambda: _is_pooled(handles))
            pooled = [handle for handle in handles if (await handle.row()).shard >= SHARDS]
            for handle in handles:
                if handle not in pooled[:1]:
                    await handle.cancel()
            await until(lambda: _waits_alone(other))
        [lost] = await other.queues.claim("gone", ["gpu"], lease_ms=1)
        assert lost.run_id == pooled[0].id
        await share(other)
        run = await other.start(by_worker)
        await until(lambda: _waits_alone(other))

        async def claimed() -> bool:
            await other.retention.apply()
            return [task.run_id for task in await other.queues.claim("alive", ["gpu"])] == [run.id]

        await until(claimed)


async def _waits_alone(one: Engine) -> bool:
    return (await one.queues.show("gpu")).waiting_tasks == 1


async def test_a_run_that_undoes_its_work_waits_for_its_code_although_it_is_cancelled(postgres_url: str):
    UNDONE.clear()
    async with engine(postgres_url, order) as other:
        async with engine(postgres_url, undoing) as having:
            await share(other, having)
            handles = [await having.start(undoing, id=f"undoing-{number}") for number in range(MANY)]
            for handle in handles:
                await until(lambda handle=handle: _rolls_back(having, handle))
        await share(other)
        found = [await other.get(handle.id) for handle in handles]
        await asyncio.gather(*(handle.cancel() for handle in found))
        await other.retention.apply()
        await other.retention.apply()
        assert {(await handle.row()).status for handle in found} == {"running"}
        UNDONE.set()
        async with engine(postgres_url, undoing) as back:
            ended = [await back.get(handle.id) for handle in handles]
            await asyncio.gather(*(handle.result() for handle in ended), return_exceptions=True)
            assert {(await handle.row()).status for handle in ended} == {"failed"}


async def _rolls_back(one: Engine, handle: Handle[Any]) -> bool:
    run = one.kernel.run_cache.get(RunId(handle.id))
    return run is not None and run.state.rolling_back
