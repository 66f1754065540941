"""A claim that nobody can be told of is no claim: its tasks are free again at once, not when a lease runs out."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from plait.kernel import task_payload
from plait.kernel.errors import NotFound, Unavailable
from tests.engine.test_queues import Shop, book, pages


class Held:
    """A call of the store that has done its work, and whose answer is on its way for as long as we like."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call
        self.done = asyncio.Event()
        self.answer = asyncio.Event()

    async def __call__(self, *args: Any) -> Any:
        found = await self._call(*args)
        self.done.set()
        await self.answer.wait()
        return found


@pytest.mark.parametrize("call", ["claim", "limited"])
@pytest.mark.parametrize("wait_ms", [0, 60_000])
async def test_a_worker_that_leaves_while_it_is_given_tasks_leaves_no_claim_behind(
    monkeypatch: pytest.MonkeyPatch, call: str, wait_ms: int
):
    async with Shop() as shop:
        await shop.engine.start(pages, 3)
        held = Held(getattr(shop.store.queues, call))
        with monkeypatch.context() as patch:
            patch.setattr(shop.store.queues, call, held)
            claiming = asyncio.ensure_future(shop.claim(worker="gone", wait_ms=wait_ms))
            await held.done.wait()
            assert {length.claimed for length in await shop.store.queues.lengths()} == {3}
            claiming.cancel()
            held.answer.set()
            await asyncio.gather(claiming, return_exceptions=True)
        assert claiming.cancelled()
        assert [task.attempt for task in await shop.claim()] == [1, 1, 1]


async def test_whoever_waits_is_told_of_what_is_given_back(monkeypatch: pytest.MonkeyPatch):
    async with Shop() as shop:
        await shop.engine.start(book)
        held = Held(shop.store.queues.claim)
        with monkeypatch.context() as patch:
            patch.setattr(shop.store.queues, "claim", held)
            claiming = asyncio.ensure_future(shop.claim(worker="gone"))
            await held.done.wait()
        waiting = asyncio.ensure_future(shop.one(worker="w2", wait_ms=60_000))
        await asyncio.sleep(0)
        claiming.cancel()
        held.answer.set()
        await asyncio.gather(claiming, return_exceptions=True)
        assert (await asyncio.wait_for(waiting, 5)).attempt == 1


async def test_tasks_whose_inputs_can_not_be_read_for_now_are_free_again(monkeypatch: pytest.MonkeyPatch):
    async def away(*_: Any) -> Any:
        raise Unavailable("store.unavailable", "the database is away")

    async with Shop() as shop:
        await shop.engine.start(pages, 3)
        with monkeypatch.context() as patch:
            patch.setattr(task_payload, "whole", away)
            with pytest.raises(Unavailable):
                await shop.claim()
        assert [task.attempt for task in await shop.claim()] == [1, 1, 1]


async def test_a_task_that_can_not_be_read_keeps_no_worker_from_the_others(monkeypatch: pytest.MonkeyPatch):
    whole = task_payload.whole

    async def damaged(store: Any, input: bytes, *more: Any) -> Any:
        if b"[1]" in input:
            raise NotFound("store.no_blob", "this blob is missing")
        return await whole(store, input, *more)

    async with Shop() as shop:
        await shop.engine.start(pages, 3)
        monkeypatch.setattr(task_payload, "whole", damaged)
        assert [task.label for task in await shop.claim()] == ["step `render-0`", "step `render-2`"]
        assert await shop.claim(worker="w2") == [], "its claim runs out, as that of a worker that is gone"
