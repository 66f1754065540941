"""Bugs that a seed has found, each as the smallest workflow that shows it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from plait import Context, Limits, Undo, step, workflow
from plait.errors import RunFailed, Unavailable
from plait.kernel.store import Write
from plait.stores.memory import Moment
from plait.testing import sim


async def one() -> int:
    return 1


@workflow
async def with_an_empty_join(ctx: Context) -> list[Any]:
    return list(await asyncio.gather(ctx.join("empty"), ctx.step("a", one), ctx.step("b", one)))


@workflow
async def with_a_join_beside_a_step(ctx: Context) -> list[Any]:
    return list(await asyncio.gather(ctx.join("join", x=lambda c: c.step("a", one)), ctx.step("b", one)))


@pytest.mark.parametrize("flow", [with_an_empty_join, with_a_join_beside_a_step], ids=lambda flow: flow.name)
async def test_a_fork_that_cuts_a_decision_before_a_join_has_closed_goes_on(flow: Any):
    """Seed 61519: all branches had ended, so nothing was left to close the join."""
    async with sim([flow]) as s:
        run = await s.start(flow, id="run")
        output = await s.result(run)
        for at in range(1, len(await run.events())):
            assert await s.result(await run.fork(at)) == output, f"forked at event {at}"


class Undoing:
    """How often the rollback handler below was called, and what it does."""

    def __init__(self) -> None:
        self.calls = 0
        self.act: Callable[[], Awaitable[object]] = one


undoing = Undoing()


@step(max_attempts=2)
async def undo_it(undo: Undo) -> None:
    undoing.calls += 1
    await undoing.act()


@step
async def do_it() -> int:
    return 1


@workflow
async def regretted(ctx: Context) -> None:
    await ctx.step("do", do_it, rollback=undo_it)
    raise ValueError("it went wrong")


async def test_a_rollback_that_waits_for_a_retry_when_the_clock_is_set_back_and_the_engine_dies_goes_on():
    """Seed 71558: its timer had fired, so it was gone, and the time for another try had not come any more."""

    async def fail_once() -> None:
        if undoing.calls == 1:
            raise ConnectionError("not now")
        if undoing.calls == 2:
            await s.clock.sleep(60)

    undoing.calls, undoing.act = 0, fail_once
    async with sim([regretted]) as s:
        run = await s.start(regretted)
        await s.clock.advance(1)
        assert undoing.calls == 2
        s.clock.set(s.clock.time - timedelta(hours=1))
        await s.crash()
        with pytest.raises(RunFailed, match="it went wrong"):
            await s.result(run)
        assert undoing.calls == 3


async def test_a_rollback_handler_that_keeps_killing_its_process_is_stopped_and_dead_lettered():
    """Found on the way: only steps were."""

    async def take_a_while() -> None:
        await s.clock.sleep(60)

    undoing.calls, undoing.act = 0, take_a_while
    async with sim([regretted], limits=Limits(max_recoveries=5)) as s:
        run = await s.start(regretted)
        for _ in range(10):
            await s.settle()
            await s.crash()
        assert undoing.calls <= 7
        [letter] = await s.engine.dlq.list()
        assert letter.token == "~undo/do"
        await s.engine.dlq.discard(letter.id)
        with pytest.raises(RunFailed, match="it went wrong"):
            await s.result(run)


@step(queue="gpu", max_attempts=2)
async def render() -> str:
    raise AssertionError("the engine's own process must not do this")


@workflow
async def rendered(ctx: Context) -> str:
    await ctx.step("first", one)
    return await ctx.step("render", render)


class LostAnswer:
    """The commit that puts a task on a queue is done, but whoever asked for it is not told."""

    def __init__(self) -> None:
        self.lost = False

    def __call__(self, moment: Moment, writes: Sequence[Write]) -> None:
        if moment == "after" and not self.lost and any(write.queued for write in writes):
            self.lost = True
            raise Unavailable("store.unreachable", "the store went away after a commit")


async def test_a_worker_that_dies_is_noticed_when_the_answer_to_the_commit_of_its_task_was_lost():
    """Seed 1627 of `afl`: nobody looked for lost claims, because nobody knew that there was a task on a queue."""
    async with sim([rendered]) as s:
        s.store.faults = lost = LostAnswer()
        run = await s.start(rendered)
        await s.clock.advance(5)
        assert lost.lost
        [task] = await s.engine.queues.claim("dies", ["gpu"], lease_ms=10_000)
        await s.clock.advance(60)
        [again] = await s.engine.queues.claim("lives", ["gpu"])
        assert (task.attempt, again.attempt) == (1, 2)
        await s.engine.queues.complete(again.id, "done")
        assert await s.result(run) == "done"
