"""A parked run says in its row that it waits and for what: lists need not load it."""

import asyncio
from typing import Any

import pytest

from plait import Context, Engine, Retry, step, workflow
from plait.dialects.code.machine import CodeMachine
from plait.engine import Handle
from plait.kernel.store import RunFilter
from plait.kernel.view import Reason


@step(retry=Retry(max_attempts=3, first=20))
async def dial() -> None:
    raise ConnectionError("nobody picks up")


@step
async def render() -> int:
    return 1


@workflow
async def for_message(ctx: Context) -> str:
    await ctx.listen("go")
    await ctx.listen("stop")
    return "done"


@workflow
async def for_approval(ctx: Context) -> None:
    await ctx.approve("teapot", by="boss")


@workflow
async def for_time(ctx: Context) -> None:
    await ctx.sleep("nap", 3600)


@workflow
async def for_retry(ctx: Context) -> None:
    await ctx.step("dial", dial)


@workflow
async def for_worker(ctx: Context) -> int:
    return await ctx.step("render", render, queue="gpu")


@workflow
async def for_child(ctx: Context) -> None:
    await ctx.join("all", {"one": lambda c: c.child("late", for_time)})


ALL = [for_message, for_approval, for_time, for_retry, for_worker]


async def parked(engine: Engine, handle: Handle[Any], text: str) -> Reason:
    """Its reason, once that says so."""
    async for changes in engine.follow_runs(RunFilter(status="waiting")):
        for row in changes.runs:
            if row.id == handle.id and row.waiting is not None and row.waiting.text == text:
                return row.waiting
    raise AssertionError("the engine was closed")


@pytest.mark.parametrize(
    ("definition", "kind", "text", "timed"),
    [
        (for_message, "message", "message `go`", False),
        (for_approval, "approval", "approval `teapot` by boss", False),
        (for_time, "sleep", "sleep", True),
        (for_retry, "retry", "retry 2 of 3 of `dial`", True),
        (for_worker, "queue", "no worker on queue `gpu`", False),
    ],
)
async def test_a_run_that_waits_is_listed_with_its_reason(definition: Any, kind: str, text: str, timed: bool):
    async with Engine("memory:", definitions=ALL) as engine:
        handle = await engine.start(definition)
        found = await parked(engine, handle, text)
        assert (found.kind, found.until is not None) == (kind, timed)
        assert await engine.runs(RunFilter(status="working")) == []
        assert [row.id for row in await engine.runs(RunFilter(status="running"))] == [handle.id]
        assert (await handle.view()).phase == "waiting"


@pytest.mark.parametrize(
    ("definition", "text"), [(for_worker, "no worker on queue `gpu`"), (for_child, "child run `all / one / late`")]
)
async def test_nothing_in_the_picture_of_a_parked_run_is_running(definition: Any, text: str):
    async with Engine("memory:", definitions=[*ALL, for_child]) as engine:
        handle = await engine.start(definition)
        await parked(engine, handle, text)
        assert {node.status for node in (await handle.view()).nodes} == {"waiting"}


async def test_the_reason_follows_the_run_and_goes_with_its_end():
    async with Engine("memory:", definitions=ALL) as engine:
        handle = await engine.start(for_message)
        await parked(engine, handle, "message `go`")
        await handle.message("go")
        await parked(engine, handle, "message `stop`")
        await handle.message("stop")
        await handle.result()
        row = await handle.row()
        assert (row.phase, row.waiting) == ("ended", None)
        assert await engine.runs(RunFilter(status="waiting")) == []


async def test_a_run_whose_task_a_worker_has_does_not_wait():
    async with Engine("memory:", definitions=ALL) as engine:
        handle = await engine.start(for_worker)
        await parked(engine, handle, "no worker on queue `gpu`")
        [task] = await engine.queues.claim("w", ["gpu"])
        assert (await handle.row()).phase == "running"
        assert await engine.runs(RunFilter(status="waiting")) == []
        await engine.queues.complete(task.id, 1)
        assert await handle.result() == 1


MANY = 60


@workflow
async def for_many_workers(ctx: Context) -> int:
    async def page(number: int) -> int:
        found = await ctx.step(f"page-{number}", render, queue="gpu")
        return found if number else len([await ctx.listen("go")])

    return sum(await asyncio.gather(*(page(number) for number in range(MANY))))


async def until_closed(handle: Handle[Any], count: int) -> None:
    """The results of so many steps are decided."""
    async for events in handle.follow():
        count -= sum(event.type == "op.closed" for event in events)
        if count <= 0:
            return


async def test_each_of_many_results_of_workers_does_not_look_at_all_that_is_left(monkeypatch: pytest.MonkeyPatch):
    looks: list[int] = []
    waiting = CodeMachine.waiting
    monkeypatch.setattr(CodeMachine, "waiting", lambda self, tasks: looks.append(len(tasks)) or waiting(self, tasks))
    async with Engine("memory:", definitions=[for_many_workers]) as engine:
        handle = await engine.start(for_many_workers)
        first, *others = await engine.queues.claim("w", ["gpu"], limit=MANY)
        before = len(looks)
        for task in others[: MANY - 40]:
            await engine.queues.complete(task.id, 1)
        await until_closed(handle, MANY - 40)
        assert (await handle.row()).waiting == Reason("queue", "queue `gpu`")
        assert len(looks) == before, "there are only fewer of them"
        await engine.queues.complete(first.id, 1)
        await until_closed(handle, MANY - 39)
        assert (await handle.row()).waiting == Reason("message", "message `go`")
        for task in others[MANY - 40 :]:
            await engine.queues.complete(task.id, 1)
        await handle.message("go")
        assert await handle.result() == MANY
