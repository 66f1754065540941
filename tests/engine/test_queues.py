"""Tasks on queues, from the decision that asks for one to the result that a worker reports."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from plait import Engine, Retry, step, workflow
from plait.api.claim_id import read
from plait.api.task import QueueTask
from plait.dialects.code.errors import WorkflowCodeError
from plait.kernel.errors import Conflict, ErrorInfo, InvalidInput, NotFound, RunFailed
from plait.kernel.ids import RunId
from plait.kernel.queued import ClaimRequest, HeldTask
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock

GPU = ["gpu"]


@step(queue="gpu", max_attempts=3)
async def render(page: int) -> str:
    raise AssertionError("the engine's own process must not do this")


@step(queue="gpu", max_attempts=2, timeout=10)
async def short(page: int) -> str:
    raise AssertionError("the engine's own process must not do this")


@step(queue="gpu", max_attempts=1, heartbeat_timeout=5)
async def lively(page: int) -> str:
    raise AssertionError("the engine's own process must not do this")


@workflow
async def book(ctx: Any, page: int = 1) -> str:
    return await ctx.step("render", render, page)


@workflow
async def pages(ctx: Any, count: int) -> list[str]:
    return list(await asyncio.gather(*(ctx.step(f"render-{n}", render, n) for n in range(count))))


@workflow
async def hasty(ctx: Any) -> str:
    return await ctx.step("short", short, 1)


@workflow
async def careful(ctx: Any) -> str:
    return await ctx.step("lively", lively, 1)


class Shop:
    """An engine on a virtual clock, and a worker that is no more than its calls."""

    def __init__(self, **options: Any) -> None:
        self.clock = VirtualClock()
        self.store = MemoryStore(clock=self.clock)
        self.options = {"lease_ttl": 1.0, **options}
        self.engine = self._engine()

    def _engine(self) -> Engine:
        definitions = [book, pages, hasty, careful]
        return Engine(store=self.store, clock=self.clock, definitions=definitions, **self.options)

    async def __aenter__(self) -> "Shop":
        await self.engine.__aenter__()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.engine.__aexit__(None, None, None)
        await self.store.dispose()

    async def crash(self) -> None:
        """The engine dies; another takes up what it left."""
        await self.engine.kernel.crash()
        await self.later(2)
        self.engine = self._engine()
        await self.engine.__aenter__()

    async def claim(self, worker: str = "w1", **options: Any) -> list[QueueTask]:
        return await self.engine.queues.claim(worker, GPU, limit=10, **options)

    async def one(self, worker: str = "w1", **options: Any) -> QueueTask:
        [task] = await self.claim(worker, **options)
        return task

    async def later(self, seconds: float) -> None:
        await self.clock.advance(seconds)

    async def kinds(self, run: Any) -> list[str]:
        return [event.type for event in await run.events()]


async def test_a_step_with_a_queue_is_done_by_whoever_claims_it():
    async with Shop() as shop:
        run = await shop.engine.start(book, 7, id="b")
        task = await shop.one()
        assert (task.run_id, task.queue, task.kind, task.handler, task.attempt) == ("b", "gpu", "step", "render", 1)
        assert task.input == {"handler": "render", "arguments": [7]}
        assert task.key == "b:render:0"
        await shop.engine.queues.complete(task.id, "page 7")
        assert await run.result() == "page 7"
        assert await shop.claim() == []


async def test_a_run_that_waits_for_a_worker_takes_no_memory():
    async with Shop(code_cache=0) as shop:
        run = await shop.engine.start(book, id="b")
        task = await shop.one()
        assert shop.engine.kernel.run_cache.all() == []
        await shop.engine.queues.complete(task.id, "done")
        assert await run.result() == "done"


async def test_the_same_result_twice_is_one():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        task = await shop.one()
        await shop.engine.queues.complete(task.id, "done")
        await shop.engine.queues.complete(task.id, "done")
        await run.result()
        await shop.engine.queues.complete(task.id, "done")
        assert "task.late" not in await shop.kinds(run)


async def test_a_failed_attempt_is_tried_again_by_the_steps_own_policy():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        for attempt in (1, 2):
            task = await shop.one()
            assert task.attempt == attempt
            await shop.engine.queues.fail(task.id, ErrorInfo("task.failed", "no paper"))
            await shop.later(30)
        task = await shop.one()
        assert task.attempt == 3
        await shop.engine.queues.fail(task.id, ErrorInfo("task.failed", "no paper"))
        with pytest.raises(RunFailed, match="no paper"):
            await run.result()
        [letter] = await shop.engine.dlq.list()
        assert letter.attempts == 3


async def test_a_failure_that_is_final_is_not_tried_again():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        await shop.engine.queues.fail((await shop.one()).id, ErrorInfo("task.failed", "no"), retryable=False)
        with pytest.raises(RunFailed):
            await run.result()


@pytest.mark.parametrize("cache", [0, 1000])
async def test_a_result_that_does_not_fit_its_step_fails_it_and_blocks_nothing(cache: int):
    async with Shop(code_cache=cache) as shop:
        run = await shop.engine.start(pages, 2, id="p")
        wrong, right = await shop.claim()
        await shop.engine.queues.complete(right.id, "page 1")
        await shop.crash()
        await shop.engine.queues.complete(wrong.id, 7)
        run = await shop.engine.get("p")
        with pytest.raises(RunFailed, match=r"the result of step `render-0` does not fit .* Expected `str`, got `int`"):
            await run.result()
        await run.retry()
        again = await shop.one()
        await shop.engine.queues.complete(again.id, "page 0")
        assert await run.result() == ["page 0", "page 1"]


async def test_a_worker_that_is_gone_loses_its_task_to_the_next():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        lost = await shop.one("stalled", lease_ms=10_000)
        await shop.engine.queues.heartbeat(lost.id, Raw(b'{"page":3}'))
        await shop.later(12)
        task = await shop.one("quick")
        assert (task.attempt, task.key, task.progress) == (2, lost.key, {"page": 3})
        with pytest.raises(Conflict) as late:
            await shop.engine.queues.complete(lost.id, "too late")
        assert late.value.code == "task.lease_lost"
        assert "attempt 2 is done by `quick`" in late.value.why
        await shop.engine.queues.complete(task.id, "in time")
        assert await run.result() == "in time"
        events = {event.type: event.data for event in await run.events()}
        assert events["task.late"] == {"token": "render", "attempt": 1, "output": "too late"}
        assert events["task.queued"]["lost_worker"] == "stalled"


async def test_a_clock_that_is_set_back_does_not_prolong_the_lease_of_a_worker_that_is_gone():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        lost = await shop.one("gone", lease_ms=10_000)
        shop.clock.set(shop.clock.time - timedelta(hours=1))
        await shop.later(5)
        assert await shop.claim("quick") == [], "it may be alive: its lease is not over"
        await shop.later(10)
        task = await shop.one("quick")
        assert (task.attempt, task.key) == (2, lost.key)
        await shop.engine.queues.complete(task.id, "done")
        assert await run.result() == "done"


async def test_a_clock_that_is_set_back_does_not_prolong_a_timeout():
    async with Shop() as shop:
        run = await shop.engine.start(hasty, id="h")
        task = await shop.one(lease_ms=600_000)
        shop.clock.set(shop.clock.time - timedelta(hours=1))
        await shop.later(2)
        assert await shop.engine.queues.heartbeat(task.id)
        await shop.later(15)
        with pytest.raises(RunFailed, match=r"step `short` took longer than 10 s"):
            await run.result()


async def test_workers_that_are_gone_use_up_no_retries_but_are_bounded():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        for attempt in range(1, 6):
            assert (await shop.one(f"w{attempt}", lease_ms=1_000)).attempt == attempt
            await shop.later(3)
        task = await shop.one()
        await shop.engine.queues.fail(task.id, ErrorInfo("task.failed", "no paper"))
        await shop.later(30)
        assert (await shop.one("w7", lease_ms=1_000)).attempt == 7, "that was only its first try"
        await shop.later(3)
        with pytest.raises(RunFailed, match="step `render` was lost by 6 workers, the last of them `w7`"):
            await run.result()
        assert len(await shop.engine.dlq.list()) == 1
        assert await shop.claim() == []


async def test_a_heartbeat_keeps_the_lease():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        task = await shop.one(lease_ms=3_000)
        for _ in range(5):
            await shop.later(2)
            assert await shop.engine.queues.heartbeat(task.id)
        await shop.engine.queues.complete(task.id, "done")
        assert await run.result() == "done"


async def test_a_released_task_is_claimed_again_in_the_same_attempt():
    async with Shop() as shop:
        await shop.engine.start(book, id="b")
        task = await shop.one("leaving")
        await shop.engine.queues.release(task.id)
        again = await shop.one("staying")
        assert (again.attempt, again.key) == (1, task.key)
        with pytest.raises(Conflict, match="is done by `staying`"):
            await shop.engine.queues.release(task.id)
        with pytest.raises(Conflict):
            await shop.engine.queues.complete(task.id, "x")


async def test_a_worker_learns_of_a_cancelled_run_by_its_heartbeat():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        task = await shop.one()
        await run.cancel("not wanted")
        assert not await shop.engine.queues.heartbeat(task.id)
        with pytest.raises(Conflict) as late:
            await shop.engine.queues.complete(task.id, "too late")
        assert late.value.code == "task.settled"
        assert await run.status() == "cancelled"
        await shop.later(0)
        assert (await shop.kinds(run))[-1] == "task.late"


async def test_a_task_that_was_cancelled_before_it_was_claimed_is_nobodys():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        await run.cancel()
        assert await shop.claim() == []


@pytest.mark.parametrize("reads_again", [False, True])
async def test_a_retried_run_counts_from_one_and_takes_no_result_of_its_past(reads_again: bool):
    async with Shop() as shop:
        run = await shop.engine.start(pages, 2, id="p")
        failing, past = await shop.claim()
        await shop.engine.queues.fail(failing.id, ErrorInfo("task.failed", "no paper"), retryable=False)
        with pytest.raises(RunFailed):
            await run.result()
        assert await shop.claim() == []
        if reads_again:
            await shop.crash()
            run = await shop.engine.get("p")
        await run.retry()
        again = await shop.claim()
        assert {task.attempt for task in again} == {past.attempt} == {1}
        with pytest.raises(Conflict):
            await shop.engine.queues.complete(past.id, "of the past")
        for task in again:
            await shop.engine.queues.complete(task.id, "of now")
        assert await run.result() == ["of now", "of now"]


@pytest.mark.parametrize("cache", [0, 1000])
async def test_a_takeover_neither_does_nor_doubles_what_is_on_a_queue(cache: int):
    async with Shop(code_cache=cache) as shop:
        await shop.engine.start(pages, 3, id="p")
        claimed = await shop.engine.queues.claim("w1", GPU, limit=2)
        await shop.crash()
        rest = await shop.claim("w2")
        assert [task.handler for task in rest] == ["render"]
        assert {task.attempt for task in [*claimed, *rest]} == {1}
        await shop.crash()
        for task in [*claimed, *rest]:
            await shop.engine.queues.complete(task.id, f"page {task.input['arguments'][0]}")
        run = await shop.engine.get("p")
        assert await run.result() == ["page 0", "page 1", "page 2"]
        assert (await shop.kinds(run)).count("task.queued") == 3


async def test_a_lease_that_runs_out_while_no_engine_is_there_is_seen_by_the_next():
    async with Shop() as shop:
        await shop.engine.start(book, id="b")
        await shop.one(lease_ms=1_000)
        await shop.crash()
        await shop.later(3)
        assert (await shop.one("w2")).attempt == 2


async def test_a_timeout_holds_for_a_worker_that_only_sends_heartbeats():
    async with Shop() as shop:
        run = await shop.engine.start(hasty, id="h")
        task = await shop.one(lease_ms=60_000)
        await shop.later(9)
        assert await shop.engine.queues.heartbeat(task.id)
        await shop.later(4)
        assert not await shop.engine.queues.heartbeat(task.id)
        with pytest.raises(RunFailed, match=r"step `short` took longer than 10 s"):
            await run.result()


async def test_a_missed_heartbeat_fails_the_attempt():
    async with Shop() as shop:
        run = await shop.engine.start(careful, id="c")
        task = await shop.one(lease_ms=60_000)
        assert task.heartbeat_ms == 5_000
        await shop.later(7)
        with pytest.raises(RunFailed, match=r"step `lively` gave no heartbeat for 5 s"):
            await run.result()


async def test_a_fork_queues_its_tasks_for_itself():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        fork = await run.fork(id="f")
        await shop.later(0)
        tasks = {task.run_id: task for task in await shop.claim()}
        assert set(tasks) == {"b", "f"}
        await shop.engine.queues.complete(tasks["f"].id, "of the fork")
        assert await fork.result() == "of the fork"
        assert await run.status() == "running"


async def test_a_large_argument_travels_as_a_blob_and_arrives_whole():
    async with Shop() as shop:
        long = "x" * 100_000

        @workflow(name="long")
        async def flow(ctx: Any) -> str:
            return await ctx.step("render", render, long)

        run = await shop.engine.start(flow, id="l")
        [held] = await shop.store.queues.held(run._run_id)
        assert len(held.task.input) < 1_000
        task = await shop.one()
        assert task.input["arguments"] == [long]


async def test_a_claim_waits_for_a_task():
    async with Shop() as shop:
        waiting = asyncio.ensure_future(shop.claim(wait_ms=60_000))
        await asyncio.sleep(0)
        await shop.engine.start(book, id="b")
        [task] = await asyncio.wait_for(waiting, 5)
        assert task.run_id == "b"


async def test_a_worker_that_got_all_there_was_asks_the_store_again_when_something_comes(
    monkeypatch: pytest.MonkeyPatch,
):
    async with Shop() as shop:
        asked: list[str] = []
        claim = shop.store.queues.claim

        async def counted(request: ClaimRequest) -> list[HeldTask]:
            asked.append(request.worker)
            return await claim(request)

        monkeypatch.setattr(shop.store.queues, "claim", counted)
        await shop.engine.start(book, id="first")
        first = await shop.one()
        waiting = asyncio.ensure_future(shop.claim(wait_ms=60_000))
        await shop.later(1)
        assert asked == ["w1"]
        other = await shop.claim(worker="w2")
        assert (other, asked) == ([], ["w1", "w2"]), "who does not wait is told what the store says"
        await shop.engine.queues.release(first.id)
        [again] = await asyncio.wait_for(waiting, 5)
        assert again.run_id == "first"


async def test_what_is_freed_without_a_word_is_found_after_a_while():
    async with Shop() as shop:
        await shop.engine.start(book, id="b")
        held = await shop.one()
        waiting = asyncio.ensure_future(shop.claim(wait_ms=60_000))
        await shop.later(1)
        assert await shop.store.queues.release(read(held.id, "default").held)
        await shop.later(5)
        [task] = await asyncio.wait_for(waiting, 5)
        assert task.run_id == "b"


async def test_a_claim_that_gets_nothing_ends_with_its_wait():
    async with Shop() as shop:
        waiting = asyncio.ensure_future(shop.claim(wait_ms=20_000))
        await asyncio.sleep(0)
        await shop.later(19)
        assert not waiting.done()
        await shop.later(2)
        assert await waiting == []


async def test_waiting_says_who_does_it_or_that_nobody_will():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        assert [reason.text for reason in await run.waiting()] == ["no worker on queue `gpu` for step `render`"]
        await shop.engine.queues.claim("w1", GPU, handlers=["another"])
        assert [reason.text for reason in await run.waiting()] == ["step `render` on queue `gpu`"]
        await shop.one("w2", lease_ms=600_000)
        assert [reason.text for reason in await run.waiting()] == ["step `render` claimed by `w2`"]
        await shop.later(60)
        await shop.engine.start(book, id="c")
        other = await shop.engine.get("c")
        assert [reason.text for reason in await other.waiting()] == ["no worker on queue `gpu` for step `render`"]


@pytest.mark.parametrize(
    ("seconds", "told"), [(59, ""), (240, " (unclaimed for 4 min)"), (9_000, " (unclaimed for 2 h)")]
)
async def test_waiting_says_how_long_nobody_has_claimed_a_task(seconds: float, told: str):
    async with Shop(lease_ttl=600.0) as shop:  # else most of those hours are renewals
        run = await shop.engine.start(book, id="b")
        await shop.later(seconds)
        assert [reason.text for reason in await run.waiting()] == [f"no worker on queue `gpu` for step `render`{told}"]


async def test_a_worker_may_ask_for_what_it_can_do_only():
    async with Shop() as shop:
        await shop.engine.start(book, id="b")
        assert await shop.claim(handlers=["resize"]) == []
        assert await shop.claim(kinds=["python"]) == []
        with pytest.raises(InvalidInput, match="no tasks of the kind `magic`"):
            await shop.claim(kinds=["magic"])
        with pytest.raises(InvalidInput, match="version 2 of the protocol"):
            await shop.claim(protocol=2)
        assert len(await shop.claim(handlers=["render"], kinds=["step"])) == 1


@pytest.mark.parametrize("id", ["", "x", "AAAA", "W10", "WyJhIiwiYiJd", "é"])
async def test_an_id_that_no_claim_gave_is_unknown(id: str):
    async with Shop() as shop:
        with pytest.raises(NotFound, match="no such task"):
            await shop.engine.queues.complete(id, 1)


async def test_a_late_result_is_taken_of_an_attempt_that_was_there_only():
    async with Shop() as shop:
        run = await shop.engine.start(book, id="b")
        task = await shop.one()
        true = read(task.id, "default")
        for forged in (replace(true, opening=1), replace(true, attempt=9), replace(true, run_id=RunId("other"))):
            with pytest.raises(NotFound):
                await shop.engine.queues.complete(replace(forged, claim="forged").text(), "forged")
        stolen = replace(true, claim="guessed").text()
        with pytest.raises(NotFound):
            await shop.engine.queues.complete(stolen, "forged", queues=["cpu"])
        with pytest.raises(NotFound):
            await shop.engine.queues.complete(task.id, "x", namespace="acme")
        await shop.engine.queues.complete(task.id, "true")
        assert await run.result() == "true"
        assert "task.late" not in await shop.kinds(run)


async def test_a_function_that_no_worker_could_find_is_refused_where_it_is_written():
    with pytest.raises(WorkflowCodeError, match="defined inside another function"):

        @step(queue="gpu")
        async def local() -> None: ...

    with pytest.raises(WorkflowCodeError, match=r"queue='a b'"):
        step(queue="a b")


async def test_a_plain_function_can_not_go_to_a_queue():
    async with Shop() as shop:

        @workflow(name="plain")
        async def flow(ctx: Any) -> str:
            return await ctx.step("x", lambda: "x", queue="gpu")

        run = await shop.engine.start(flow)
        with pytest.raises(RunFailed, match="it is not a @step"):
            await run.result()


async def test_one_call_may_send_a_step_to_a_queue():
    async with Shop() as shop:

        @workflow(name="chosen")
        async def flow(ctx: Any) -> str:
            return await ctx.step("x", render, 1, queue="big-gpu", retry=Retry(max_attempts=1))

        await shop.engine.start(flow)
        [task] = await shop.engine.queues.claim("w", ["big-gpu"])
        assert task.queue == "big-gpu"
