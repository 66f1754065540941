"""Callers that wait for a run to end: all of them are told, wherever it ends."""

import asyncio

import pytest

from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.inputs import Cancel, Resume
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock
from tests.kernel.builders import add
from tests.kernel.rig import Rig, news, owner_and_client, rig
from tests.kernel.toy import count, fail, task


async def test_everyone_who_waits_for_a_run_gets_its_output():
    async with rig() as on:
        run = await on.start(count(1))
        waiting = [asyncio.ensure_future(on.kernel.outcome(run)) for _ in range(10)]
        await on.settle()
        await on.send(run, add(1), "k")
        outcomes = await asyncio.gather(*waiting)
        assert {outcome.status for outcome in outcomes} == {"completed"}


async def test_a_run_that_has_ended_answers_at_once():
    async with rig() as on:
        run = await on.start()
        await on.settle()
        for _ in range(3):
            assert (await on.kernel.outcome(run)).status == "completed"


async def test_everyone_in_another_process_is_told_however_often_they_look_in_vain():
    """Each piece of news makes all of them look at the store again; none may be forgotten on the way."""
    async with owner_and_client() as (owner, client):
        run = await owner.start(count(1))
        waiting = [asyncio.ensure_future(client.kernel.outcome(run)) for _ in range(5)]
        await client.settle()
        for _ in range(3):
            await news(client)
        await owner.send(run, add(1), "k")
        await news(client)
        async with asyncio.timeout(60):
            outcomes = await asyncio.gather(*waiting)
        assert {outcome.status for outcome in outcomes} == {"completed"}


async def test_one_who_gives_up_takes_nobody_with_him():
    async with rig() as on:
        run = await on.start(count(1))
        patient, hasty = (asyncio.ensure_future(on.kernel.outcome(run)) for _ in range(2))
        await on.settle()
        hasty.cancel()
        await asyncio.gather(hasty, return_exceptions=True)
        await on.send(run, add(1), "k")
        assert (await patient).status == "completed"


async def test_who_waits_while_the_run_changes_hands_is_told_by_the_new_owner():
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    first = Rig(store, clock=clock, owner="first")
    await first.kernel.open()
    run = await first.start(count(1))
    async with rig(store, clock=clock, owner="second") as second:
        waiting = asyncio.ensure_future(second.kernel.outcome(run))
        await second.settle()
        await first.send(run, add(1), "k")  # it ends at the first owner …
        await first.kernel.close()
        await second.kernel._ownership.refresh()  # pyright: ignore[reportPrivateUsage]
        assert second.kernel.owns(run)  # … and belongs to the second before that hears of it
        await news(second)
        async with asyncio.timeout(60):
            assert (await waiting).status == "completed"
    await store.dispose()


async def test_a_large_output_is_found_by_who_comes_late_and_by_who_was_waiting():
    big = "x" * 100_000
    async with owner_and_client() as (owner, client):
        owner.dialect.calls["big"] = lambda: big  # pyright: ignore[reportAttributeAccessIssue]
        run = await owner.start(task("big"))
        early = asyncio.ensure_future(owner.kernel.outcome(run))
        await owner.settle()
        await news(client)
        for outcome in (await early, await owner.kernel.outcome(run), await client.kernel.outcome(run)):
            assert values.decode(outcome.output or b"")["outputs"] == [big]


@pytest.mark.parametrize("how", ["failed", "cancelled"])
async def test_a_run_that_did_not_complete_says_why(how: str):
    async with owner_and_client() as (owner, client):
        run = await owner.start(count(1), fail("sold out"))
        waiting = asyncio.ensure_future(client.kernel.outcome(run))
        if how == "failed":
            await owner.send(run, add(1), "k")
        else:
            await owner.ask(run, Cancel("enough"))
        await news(client)
        for outcome in (await waiting, await owner.kernel.outcome(run)):
            assert outcome.status == how
            assert outcome.error is not None
            assert outcome.error.message == {"failed": "sold out", "cancelled": "enough"}[how]


async def test_an_answer_is_found_though_it_came_from_another_process():
    async with owner_and_client() as (owner, client):
        run = await owner.start(count(2))
        asking = asyncio.ensure_future(client.ask(run, add(1), "k"))
        await client.settle()
        await news(owner, client)
        async with asyncio.timeout(60):
            assert await asking == b"1"


async def test_a_refusal_is_an_answer_too():
    async with owner_and_client() as (owner, client):
        run = await owner.start()
        await owner.settle()
        asking = asyncio.ensure_future(client.ask(run, Resume("compensate"), "k"))
        await client.settle()
        await news(owner, client)
        await asking


async def test_who_waits_when_the_engine_closes_is_told():
    on = Rig()
    await on.kernel.open()
    run = await on.start(count(1))
    waiting = [asyncio.ensure_future(on.kernel.outcome(run)), asyncio.ensure_future(on.ask(run, Cancel(), "never"))]
    await asyncio.sleep(0)
    await on.kernel.close()
    for caller in waiting:
        with pytest.raises(PlaitError):
            await caller
    await on.store.dispose()


async def test_a_closed_engine_refuses_instead_of_letting_callers_wait():
    on = Rig()
    await on.kernel.open()
    run = await on.start(count(1))
    await on.kernel.close()
    async with asyncio.timeout(60):
        for call in (on.kernel.outcome(run), on.kernel.send(run, add(1), "k"), on.create(count(1), id="other")):
            with pytest.raises(PlaitError) as caught:
                await call
            assert caught.value.code == "kernel.closed"
    await on.store.dispose()


async def test_when_the_run_loop_dies_every_caller_is_told(caplog: pytest.LogCaptureFixture):
    class Dies(MemoryStore):
        dying = False

        async def commit(self, writes: object) -> list[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
            if self.dying:
                raise SystemError("the process is beyond help")
            return await super().commit(writes)  # pyright: ignore[reportArgumentType, reportReturnType]

    store = Dies()
    on = Rig(store)
    await on.kernel.open()
    run = await on.start(count(1))
    waiting = asyncio.ensure_future(on.kernel.outcome(run))
    store.dying = True
    async with asyncio.timeout(60):
        with pytest.raises(PlaitError):
            await on.kernel.send(run, add(1), "k")
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await on.kernel.crash()
    await store.dispose()
