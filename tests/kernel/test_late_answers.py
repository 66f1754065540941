"""Answers that come decisions later: to whoever waits, in this process or another, once and always the same."""

from __future__ import annotations

import asyncio

import pytest

from plait.engine.ask import ask_message
from plait.kernel import values
from plait.kernel.errors import Conflict, LeaseLost, PlaitError
from plait.kernel.ids import RunId
from plait.kernel.inputs import Cancel, Message
from plait.testing import VirtualClock
from tests.kernel.builders import NOW, add
from tests.kernel.rig import CountingStore, Rig, news, owner_and_client, rig
from tests.kernel.toy import answer, count, crash, fail, nap


def wonder(id: str = "q") -> Message:
    return Message(id, "wonder", values.encode("why?"), NOW, asks=True)


async def asking(on: Rig, run: RunId, id: str = "q") -> asyncio.Task[object]:
    """A caller that has asked, and waits."""
    found = asyncio.ensure_future(ask_message(on.kernel, run, wonder(id)))
    await on.settle()
    assert not found.done()
    return found


async def go(on: Rig, run: RunId) -> None:
    """Lets a run go on that counts to one."""
    await on.send(run, add(1, "go"), "go")


async def test_an_answer_may_come_at_once():
    async with rig() as on:
        run = await on.start(count(2))
        assert await ask_message(on.kernel, run, Message("m", "add", values.encode(1), NOW, asks=True)) == 1


async def test_an_answer_comes_decisions_later():
    async with rig() as on:
        run = await on.start(count(1), nap(60_000), answer("because"), count(2))
        waiting = await asking(on, run)
        await go(on, run)
        assert not waiting.done()
        on.clock.ring()
        await on.settle()
        assert await waiting == "because"


async def test_who_asks_again_with_the_same_id_gets_the_same_answer():
    async with rig() as on:
        run = await on.start(count(1), answer("because"), count(2), answer("another"))
        first, second = await asking(on, run), await asking(on, run)
        await go(on, run)
        assert [await first, await second] == ["because", "because"]
        assert await ask_message(on.kernel, run, wonder()) == "because"
        assert (await on.types(run)).count("wondered") == 1
        await on.send(run, add(1, "on"), "on")
        await on.end(run)
        assert await ask_message(on.kernel, run, wonder()) == "because"


async def test_each_id_is_a_question_of_its_own():
    async with rig() as on:
        run = await on.start(count(1), answer("first"), count(2), answer("second"), count(3))
        first = await asking(on, run, "a")
        await go(on, run)
        second = await asking(on, run, "b")
        await on.send(run, add(1, "on"), "on")
        assert [await first, await second] == ["first", "second"]


async def test_who_gives_up_takes_nothing_from_another_with_the_same_id():
    async with rig() as on:
        run = await on.start(count(1), answer("because"), count(2))
        first, second = await asking(on, run), await asking(on, run)
        first.cancel()
        await on.settle()
        assert not second.done()
        await go(on, run)
        assert await second == "because"


async def test_an_answer_survives_the_death_of_the_engine_that_took_the_question():
    clock = VirtualClock()
    store = CountingStore(clock=clock)
    on = Rig(store, clock=clock)
    await on.kernel.open()
    run = await on.start(count(1), answer("because"), count(2))
    lost = await asking(on, run)
    await on.kernel.crash()
    with pytest.raises(LeaseLost):
        await lost
    await store.release("rig")
    async with rig(store, owner="next", clock=clock) as after:
        again = await asking(after, run)
        await go(after, run)
        assert await again == "because"
        assert (await after.types(run)).count("wondered") == 1
    await store.dispose()


async def test_a_caller_in_another_process_gets_the_answer_or_the_end():
    async with owner_and_client() as (owner, client):
        for id, rest in (("a", (answer("because"), count(2))), ("b", ())):
            run = await owner.start(count(1), *rest, id=id)
            waiting = asyncio.ensure_future(ask_message(client.kernel, run, wonder()))
            await client.settle()
            await news(owner, client)
            assert not waiting.done()
            await go(owner, run)
            await news(client)
            if rest:
                assert await waiting == "because"
            else:
                with pytest.raises(Conflict, match="without an answer"):
                    await waiting


# -- runs that don't answer ------------------------------------------------------------------------------------------


async def test_a_run_that_ends_without_an_answer_says_so():
    async with rig() as on:
        for id, program, word in (("a", (count(1),), "has completed"), ("b", (count(1), fail("no")), "has failed")):
            run = await on.start(*program, id=id)
            waiting = await asking(on, run)
            await go(on, run)
            with pytest.raises(Conflict, match=f"{word} without an answer") as caught:
                await waiting
            assert caught.value.code == "RUN_FINISHED"
            with pytest.raises(Conflict, match=word):
                await ask_message(on.kernel, run, wonder())


async def test_an_answer_in_the_decision_that_ends_the_run_is_heard():
    async with rig() as on:
        run = await on.start(count(1), answer("at last"))
        waiting = await asking(on, run)
        await go(on, run)
        assert await waiting == "at last"


async def test_a_run_that_is_cancelled_says_so():
    async with rig() as on:
        run = await on.start(count(1), answer("because"))
        waiting = await asking(on, run)
        await on.ask(run, Cancel("not needed"), "c")
        with pytest.raises(Conflict, match="was cancelled without an answer"):
            await waiting


async def test_a_run_that_breaks_down_tells_its_callers_and_keeps_their_question():
    async with rig() as on:
        run = await on.start(count(1), crash(), answer("because"))
        waiting = await asking(on, run)
        await go(on, run)
        with pytest.raises(PlaitError, match="is blocked") as caught:
            await waiting
        assert "id='q'" in caught.value.fix


async def test_a_question_that_the_run_does_not_take_is_refused():
    async with rig() as on:
        run = await on.start(count(1))
        with pytest.raises(PlaitError) as caught:
            await ask_message(on.kernel, run, Message("m", "sing", asks=True))
        assert caught.value.code == "toy.unknown_message"


async def test_an_answer_that_looks_like_a_refusal_is_an_answer():
    told = {"error": {"code": "a.b", "message": "c"}, "status": 409}
    async with rig() as on:
        run = await on.start(count(1), answer(told), count(2))
        waiting = await asking(on, run)
        await go(on, run)
        assert await waiting == told
        assert await ask_message(on.kernel, run, wonder()) == told
