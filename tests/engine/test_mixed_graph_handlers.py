"""Engines with different handlers of graphs on one PostgreSQL: what the owner of a run lacks, one that has it calls."""

import asyncio
from typing import Any

import pytest

from plait import Handle, graph, handler
from plait.kernel.ids import RunId, shard_of
from plait.testing import history
from tests.engine.fleets import engine, share, until
from tests.stores.looking_in import looking_in

MANY = 16


@handler
async def pack(payload: dict[str, Any]) -> dict[str, Any]:
    return {"parcel": f"a parcel of {payload['item']}"}


@handler
async def send(payload: dict[str, Any]) -> dict[str, Any]:
    return {"tracking": f"sent {payload['parcel']}"}


def node(id: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "task", **more}


SHIP = graph({"name": "ship", "nodes": [node("pack"), node("send")], "edges": [{"from": "pack", "to": "send"}]})
SHIPPED = {"send": {"tracking": "sent a parcel of tea"}}
PACK = graph({"name": "pack", "nodes": [node("pack")]})
PACKED = {"pack": {"parcel": "a parcel of tea"}}
TEA = {"item": "tea"}


async def started(url: str, definition: Any, *ids: str, **options: Any) -> None:
    """By a client without any handlers, for others."""
    async with engine(url, work=False) as client:
        for id in ids:
            await client.start(definition, TEA, id=id, **options)


async def says(handle: Handle[Any]) -> str:
    return ", ".join(reason.text for reason in await handle.waiting())


async def until_says(handle: Handle[Any], text: str) -> None:
    async def does() -> bool:
        return text in await says(handle)

    await until(does)


@pytest.mark.parametrize("has", [[], [pack]], ids=["none", "one of two"])
async def test_handlers_that_the_owner_lacks_are_called_by_an_engine_that_has_them(postgres_url: str, has: list[Any]):
    async with engine(postgres_url, pack, send) as having, engine(postgres_url, *has) as other:
        await share(having, other)
        handles = [await having.start(SHIP, TEA, id=f"ship-{number}") for number in range(MANY)]
        strays = [handle for handle in handles if shard_of(RunId(handle.id)) in other.kernel.leases]
        assert 0 < len(strays) < MANY
        assert await asyncio.gather(*(handle.result() for handle in handles)) == [SHIPPED] * MANY
        for handle in handles:
            (await history(handle)).assert_recorded_once()
        queued = [[e.data["token"] for e in await h.events() if e.type == "task.queued"] for h in handles]
        assert [len(tokens) for tokens in queued] == [(2 - len(has)) if h in strays else 0 for h in handles]


async def test_engines_that_have_one_handler_each_do_a_run_together(postgres_url: str):
    ids = [f"ship-{number}" for number in range(4)]
    await started(postgres_url, SHIP, *ids)
    async with engine(postgres_url, pack) as one, engine(postgres_url, send):
        for id in ids:
            assert await (await one.get(id)).result() == SHIPPED


async def test_a_run_that_waits_for_a_worker_goes_on_when_an_engine_with_the_handler_joins(postgres_url: str):
    await started(postgres_url, PACK, "p", namespace="shop")
    async with engine(postgres_url) as other:
        handle = await other.get("p", namespace="shop")
        await until_says(handle, "no worker on queue `wf.tasks.task` for `pack`")
        async with engine(postgres_url, send):  # not this one
            await until_says(handle, "no worker on queue")
        async with engine(postgres_url, pack):
            assert await handle.result() == PACKED
        (await history(handle)).assert_recorded_once()


async def test_an_engine_that_is_started_again_with_the_handler_does_what_it_left_to_workers(postgres_url: str):
    await started(postgres_url, PACK, "p")
    async with engine(postgres_url) as before:
        await until_says(await before.get("p"), "no worker on queue")
    async with engine(postgres_url, pack) as after:
        assert await (await after.get("p")).result() == PACKED


async def test_a_task_that_a_worker_has_stays_with_it_when_an_engine_joins(postgres_url: str):
    await started(postgres_url, PACK, "first", "second")
    async with engine(postgres_url) as other:
        [claimed] = await other.queues.claim("w", ["wf.tasks.task"], limit=1, wait_ms=60_000, handlers=["pack"])
        theirs = await other.get(claimed.run_id)
        free = await other.get("second" if claimed.run_id == "first" else "first")
        async with engine(postgres_url, pack):
            assert await free.result() == PACKED  # so it has looked
            assert "claimed by `w`" in await says(theirs)
            await other.queues.complete(claimed.id, {"parcel": "by a worker"})
            assert await theirs.result() == {"pack": {"parcel": "by a worker"}}
        (await history(theirs)).assert_recorded_once()


async def test_a_call_that_fails_is_tried_again_under_the_same_key(postgres_url: str):
    tried: list[tuple[int, str]] = []

    @handler("pack")
    async def flaky(payload: dict[str, Any], ctx: Any) -> dict[str, Any]:
        tried.append((ctx.attempt, ctx.idempotency_key))
        if ctx.attempt < 3:
            raise RuntimeError("no tape")
        return await pack(payload)

    retried = graph({"nodes": [node("pack", retry={"backoff_ms": 1})]})
    await started(postgres_url, retried, "p")
    async with engine(postgres_url) as other:
        handle = await other.get("p")
        await until_says(handle, "no worker on queue")
        async with engine(postgres_url, flaky):
            assert await handle.result() == PACKED
    assert [attempt for attempt, _ in tried] == [1, 2, 3]
    assert len({key for _, key in tried}) == 1


async def test_an_engine_that_leaves_gives_the_attempt_to_the_next_one(postgres_url: str):
    begun = asyncio.Event()

    @handler("pack")
    async def slow(payload: dict[str, Any]) -> None:
        begun.set()
        await asyncio.Event().wait()

    await started(postgres_url, PACK, "p")
    async with engine(postgres_url) as other:
        handle = await other.get("p")
        await until_says(handle, "no worker on queue")
        async with engine(postgres_url, slow):
            await begun.wait()
            assert "claimed by `engine " in await says(handle)
        async with engine(postgres_url, pack):
            assert await handle.result() == PACKED
        assert [event.data["attempt"] for event in await handle.events() if event.type == "task.queued"] == [1]


async def test_an_attempt_whose_lease_ran_out_changes_nothing_any_more(postgres_url: str):
    begun, thawed = asyncio.Event(), asyncio.Event()
    keys: list[str] = []

    @handler("pack")
    async def frozen(payload: dict[str, Any], ctx: Any) -> dict[str, Any]:
        keys.append(ctx.idempotency_key)
        if ctx.attempt > 1:
            return await pack(payload)
        begun.set()
        await thawed.wait()
        return {"parcel": "too late"}

    await started(postgres_url, SHIP, "p")
    async with engine(postgres_url) as other:
        handle = await other.get("p")
        await until_says(handle, "no worker on queue")
        async with engine(postgres_url, frozen):
            await begun.wait()
            async with looking_in(postgres_url) as database:
                await database.execute("update plait.queued_tasks set expires = 1")
            await until_says(handle, "no worker on queue `wf.tasks.task` for `send`")
            thawed.set()

            async def is_late() -> bool:
                return "task.late" in [event.type for event in await handle.events()]

            await until(is_late)
        async with engine(postgres_url, send):
            assert await handle.result() == SHIPPED
        (await history(handle)).assert_recorded_once()
    assert len(keys) == 2
    assert len(set(keys)) == 1


async def test_a_queue_that_the_node_names_is_for_its_workers(postgres_url: str):
    named = graph({"nodes": [node("pack", queue="wf.tasks.task")]})
    async with engine(postgres_url, pack) as having:
        theirs = await having.start(named, TEA, id="named")
        async with engine(postgres_url) as other:
            await share(having, other)
            handles = [await having.start(PACK, TEA, id=f"p-{number}") for number in range(MANY)]
            assert any(shard_of(RunId(handle.id)) in other.kernel.leases for handle in handles)
            for handle in handles:  # tasks that came later, on the same queue
                assert await handle.result() == PACKED
        assert "no worker on queue `wf.tasks.task` for `pack`" in await says(theirs)


async def test_a_compensator_that_the_owner_lacks_is_called_by_an_engine_that_has_it(postgres_url: str):
    unpacked: list[str] = []

    @handler
    async def unpack(payload: dict[str, Any]) -> None:
        unpacked.append(payload["output"]["parcel"])

    undone = graph({"nodes": [node("pack", compensator={"action": "unpack"})]})
    async with engine(postgres_url, pack) as other:
        async with engine(postgres_url, work=False) as client:
            handle = await client.start(undone, TEA, id="p")
            assert await handle.result() == PACKED
        await (await other.get("p")).compensate()
        async with engine(postgres_url, pack, unpack):

            async def done() -> bool:
                return bool(unpacked)

            await until(done)
    assert unpacked == ["a parcel of tea"]


async def test_limits_of_the_queue_hold_for_engines_that_serve_it(postgres_url: str):
    under_way, most = 0, 0

    @handler("pack")
    async def counted(payload: dict[str, Any]) -> dict[str, Any]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return await pack(payload)

    ids = [f"p-{number}" for number in range(4)]
    await started(postgres_url, PACK, *ids)
    async with engine(postgres_url) as other:
        await other.queues.set("wf.tasks.task", concurrency=1)
        handles = [await other.get(id) for id in ids]
        for handle in handles:
            await until_says(handle, "queue `wf.tasks.task`")
        async with engine(postgres_url, counted), engine(postgres_url, counted):
            assert await asyncio.gather(*(handle.result() for handle in handles)) == [PACKED] * len(ids)
    assert most == 1


async def test_a_fleet_whose_engines_all_have_the_handlers_puts_nothing_on_queues(postgres_url: str):
    async with engine(postgres_url, pack, send) as one, engine(postgres_url, pack, send) as two:
        await share(one, two)
        handles = [await one.start(SHIP, TEA, id=f"ship-{number}") for number in range(MANY)]
        await asyncio.gather(*(handle.result() for handle in handles))
        types = {event.type for handle in handles for event in await handle.events()}
        assert "task.queued" not in types
