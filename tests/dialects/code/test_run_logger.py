"""`ctx.log`: each line once, however often the function is played."""

import asyncio
import contextlib
import gc
import logging

import pytest

from plait import Context, Undo, workflow
from plait.errors import JoinError

from .conftest import Simulate


@workflow
async def talkative(ctx: Context) -> None:
    ctx.log.info("begins with %s, 100%%", "tea")
    await ctx.sleep("one", 10)
    ctx.log.warning("100% sure", extra={"sure": True})

    async def branch(c: Context) -> None:
        await c.sleep("two", 10)
        c.log.info("in a branch")

    await ctx.join("both", a=branch)
    try:
        raise ValueError("odd")
    except ValueError:
        ctx.log.exception("ends")


async def test_a_line_is_said_once(simulate: Simulate, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "plait.workflow")
    async with simulate([talkative]) as s:
        run = await s.start(talkative, id="50%")
        await s.settle()
        await s.crash()
        await s.clock.advance(15)
        await s.crash()
        await s.result(run)
        await s.engine.get("50%")
    lines = [record for record in caplog.records if record.name == "plait.workflow"]
    assert [record.getMessage() for record in lines] == [
        "run 50%: begins with tea, 100%",
        "run 50%: 100% sure",
        "run 50%, `both/a`: in a branch",
        "run 50%: ends",
    ]
    assert [record.levelname for record in lines] == ["INFO", "WARNING", "INFO", "ERROR"]
    first, second, third, last = (vars(record) for record in lines)
    names = ("run_id", "workflow", "namespace", "path")
    assert [first[name] for name in names] == ["50%", "talkative", "default", ""]
    assert (second["sure"], third["path"]) == (True, "both/a")
    assert first["filename"] == "test_run_logger.py"
    assert last["exc_info"][0] is ValueError


async def test_a_function_that_is_only_looked_at_says_nothing(
    simulate: Simulate, caplog: pytest.LogCaptureFixture
) -> None:
    @workflow(name="w")
    async def before(ctx: Context) -> None:
        await ctx.sleep("one", 10)

    @workflow(name="w")
    async def after(ctx: Context) -> None:
        try:
            await ctx.sleep("one", 10)
        finally:
            ctx.log.info("never for a check")

    caplog.set_level(logging.INFO, "plait.workflow")
    async with simulate([before]) as s:
        run = await s.start(before, id="run")
        await s.settle()
        s._definitions[:] = [after]
        await s.crash()
        live = await s.engine.kernel.peek(await run.row())
        live.machine.check(s.clock.now())  # type: ignore[attr-defined]
        live.machine.close()
    assert not [record for record in caplog.records if record.name == "plait.workflow"]


@workflow
async def careless(ctx: Context) -> str:
    async def background() -> None:
        raise ValueError("the printer is on fire")

    task = asyncio.create_task(background())
    await ctx.sleep("nap", 1)
    del task
    return "done"


async def test_a_task_that_nobody_awaits_does_not_fail_in_silence(
    simulate: Simulate, caplog: pytest.LogCaptureFixture
) -> None:
    async with simulate([careless]) as s:
        assert await s.run(careless, id="c-1") == "done"
    gc.collect()
    found = [record.getMessage() for record in caplog.records if record.name == "plait.workflow"]
    assert set(found) == {"run c-1: a task that nobody awaits failed: ValueError('the printer is on fire')"}


async def test_finding_handlers_in_the_code_logs_nothing(simulate: Simulate, caplog: pytest.LogCaptureFixture) -> None:
    async def fail(c: Context) -> None:
        raise ValueError("caught")

    @workflow
    async def w(ctx: Context) -> None:
        with contextlib.suppress(JoinError):
            await ctx.join("j", a=fail)

        async def undo(undo: Undo) -> None: ...

        await ctx.step("s", lambda: 1, rollback=undo)
        await ctx.listen("never")

    async with simulate([w]) as s:
        run = await s.start(w)
        await s.settle()
        await run.cancel(compensate=True)
        await s.skip_until(run.ended)
        assert len((await run.history()).of("rollback.step")) == 1
    gc.collect()
    assert not [record for record in caplog.records if record.name == "plait.workflow"]


async def test_dropping_a_parked_run_logs_nothing(simulate: Simulate, caplog: pytest.LogCaptureFixture) -> None:
    async def pipe(ctx: Context) -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        await asyncio.gather(ctx.listen("never"), queue.get())

    @workflow
    async def w(ctx: Context) -> None:
        await ctx.join("j", a=pipe)

    async with simulate([w]) as s:
        await s.start(w)
        await s.settle()
        await s.crash()
        await s.settle()
    gc.collect()
    assert not [record for record in caplog.records if record.name == "plait.workflow"]
