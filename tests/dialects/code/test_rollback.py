"""Rollback: what succeeded is undone, newest first, one at a time, and never twice."""

import asyncio
from typing import Any

import pytest

from plait import Context, CriticalError, Loop, Retry, RollbackError, Undo, step, step_info, workflow
from plait.errors import Conflict, HistoryDivergedError
from plait.testing import Sim, SimRun

from .conftest import Simulate
from .decided import deciding
from .support import Ledger, deploy, failure

ledger = Ledger()
broken: set[str] = set()


@pytest.fixture(autouse=True)
def _clean() -> None:
    ledger.clear()
    broken.clear()


@step
async def reserve(name: str) -> dict[str, str]:
    ledger.append(name)
    return {"reserved": name}


@step(retry=Retry(max_attempts=2, first=1, factor=1))
async def release(undo: Undo) -> None:
    """A named handler."""
    ledger.append(f"undo {undo.step}")
    if undo.step in broken:
        raise ConnectionError(f"{undo.step} can't be released")


def inline(name: str) -> Any:
    """A handler that only the workflow's code knows."""

    async def undo(undo: Undo) -> None:
        ledger.append(f"undo {undo.step}")
        if undo.step in broken:
            raise ConnectionError(f"{undo.step} can't be released")

    return undo


HANDLERS: dict[str, Any] = {"named": lambda name: release, "inline": inline}
handlers = pytest.mark.parametrize("handler", HANDLERS)


def three(handler: str, end: Any = None) -> Any:
    make = HANDLERS[handler]

    @workflow(name="w")
    async def w(ctx: Context) -> str:
        for name in ("a", "b", "c"):
            await ctx.step(name, reserve, name, rollback=make(name))
        await ctx.listen("go")
        if end is not None:
            raise end
        return "done"

    return w


def undone() -> list[str]:
    return [entry.removeprefix("undo ") for entry in ledger if entry.startswith("undo ")]


# -- what starts it --------------------------------------------------------------------------------------------------


@handlers
@pytest.mark.parametrize("restart", [False, True], ids=["live", "restarted"])
@pytest.mark.parametrize("trigger", ["failure", "RollbackError", "deadline", "cancel", "compensate"])
async def test_it_undoes_newest_first(trigger: str, restart: bool, handler: str, simulate: Simulate) -> None:
    end = {"failure": ValueError("no"), "RollbackError": RollbackError("stop")}.get(trigger)
    async with simulate() as s:
        run = await s.start(three(handler, end), deadline=50 if trigger == "deadline" else None)
        await s.settle()
        if restart:
            await s.crash()
        if trigger == "deadline":
            await s.clock.advance(60)
        elif trigger == "cancel":
            await run.cancel("enough", compensate=True)
        else:
            await run.message("go")
        await s.skip_until(run.ended)
        if trigger == "compensate":
            assert await run.status() == "completed"
            assert undone() == []
            if restart:
                await s.crash()
            await run.compensate()
            await s.settle()
        assert ledger == ["a", "b", "c", "undo c", "undo b", "undo a"]
        row = await run.row()
        status = {"cancel": "cancelled", "compensate": "completed"}.get(trigger, "failed")
        assert row.status == status
        history = await run.history()
        assert [event["status"] for event in history.of("rollback.step")] == ["completed"] * 3
        assert history.of("rollback.ended") == [{"status": "completed"}]
        if trigger == "failure":
            assert row.error is not None
            assert row.error.message == "no"
        if trigger == "deadline":
            assert row.error is not None
            assert row.error.code == "DEADLINE_EXCEEDED"


@handlers
async def test_a_plain_cancel_undoes_nothing(handler: str) -> None:
    async with deciding() as s:
        run = await s.start(three(handler))
        await s.settle()
        await run.cancel()
        await s.settle()
        assert await run.status() == "cancelled"
    assert ledger == ["a", "b", "c"]


@handlers
async def test_neither_divergence_nor_eviction_undoes_anything(handler: str) -> None:
    @workflow(name="w")
    async def other(ctx: Context) -> None:
        await ctx.step("x", lambda: 1)

    async with deciding() as s:
        run = await s.start(three(handler))
        await s.settle()
        await deploy(s, other)
        await run.message("go")
        with pytest.raises(HistoryDivergedError):
            await s.result(run)
    assert ledger == ["a", "b", "c"]


async def test_a_run_without_handlers_just_fails() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("a", reserve, "a")
        raise RollbackError("stop")

    async with deciding() as s:
        run = await s.start(w)
        info = await failure(s, run)
        assert (info.kind, info.message) == ("rollback", "stop")
        assert (await run.history()).of("rollback.started") == []


@handlers
async def test_a_caught_failure_undoes_nothing(handler: str) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        await ctx.step("a", reserve, "a", rollback=HANDLERS[handler]("a"))
        try:
            await ctx.step("bad", ledger.fails("bad", CriticalError("no")))
        except CriticalError:
            return "handled"
        return ""

    async with deciding() as s:
        assert await s.run(w) == "handled"
    assert ledger == ["a", "bad"]


@handlers
async def test_steps_that_failed_are_not_undone(handler: str) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        make = HANDLERS[handler]
        await ctx.step("a", reserve, "a", rollback=make("a"))
        await ctx.step("bad", ledger.fails("bad", CriticalError("no")), rollback=make("bad"))

    async with deciding() as s:
        await failure(s, await s.start(w))
    assert ledger == ["a", "bad", "undo a"]


# -- what a handler gets ---------------------------------------------------------------------------------------------


async def test_a_handler_gets_what_was_done_and_why_it_is_undone() -> None:
    seen: list[Undo] = []
    keys: list[str] = []

    @workflow
    async def w(ctx: Context) -> None:
        async def undo(undo: Undo) -> None:
            seen.append(undo)
            keys.append(step_info().idempotency_key)

        await ctx.step("named", reserve, "tea", rollback=undo)
        await ctx.step("lambda", lambda: 5, rollback=undo)
        raise ValueError("because")

    async with deciding() as s:
        run = await s.start(w, id="r")
        await failure(s, run)
    second, first = seen
    assert (first.step, first.output, first.args) == ("named", {"reserved": "tea"}, ["tea"])
    assert (second.step, second.output, second.args) == ("lambda", 5, None)
    assert first.error is not None
    assert first.error.message == "because"
    assert keys == ["r:lambda:0:undo", "r:named:0:undo"]


async def test_a_handler_may_be_a_plain_function_in_a_thread() -> None:
    import threading

    main = threading.get_ident()

    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("a", lambda: 1, rollback=lambda undo: ledger.append(threading.get_ident() != main))
        raise ValueError("no")

    async with deciding() as s:
        await failure(s, await s.start(w))
    assert ledger == [True]


async def test_a_named_handler_can_belong_to_a_step() -> None:
    @step(rollback=release)
    async def with_handler(name: str) -> None:
        ledger.append(name)

    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("a", with_handler, "a")
        raise ValueError("no")

    async with deciding() as s:
        await failure(s, await s.start(w))
    assert ledger == ["a", "undo a"]


# -- structures ------------------------------------------------------------------------------------------------------


@handlers
@pytest.mark.parametrize("restart", [False, True], ids=["live", "restarted"])
async def test_joins_races_and_loops_are_undone_in_order_of_completion(handler: str, restart: bool) -> None:
    make = HANDLERS[handler]

    def branch(name: str, seconds: float) -> Any:
        async def run(c: Context) -> None:
            await c.sleep("nap", seconds)
            await c.step("s", reserve, name, rollback=make(name))

        return run

    @workflow
    async def w(ctx: Context) -> None:
        async def body(c: Context, n: int) -> Any:
            await c.step("s", reserve, f"l{n}", rollback=make(f"l{n}"))
            return Loop.continue_(n + 1) if n < 2 else Loop.break_()

        async def loser(c: Context) -> None:
            await c.step("s", reserve, "lost", rollback=make("lost"))
            await c.sleep("nap", 1000)

        await ctx.join("j", x=branch("x", 2), y=branch("y", 1))
        await ctx.race("r", lost=loser, won=branch("won", 1))
        await ctx.loop("l", body, state=0)
        await ctx.listen("go")
        raise RollbackError("stop")

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(10)
        if restart:
            await s.crash()
        await run.message("go")
        await failure(s, run)
    assert ledger[:7] == ["y", "x", "lost", "won", "l0", "l1", "l2"]
    assert undone() == ["l/~2/s", "l/~1/s", "l/~0/s", "r/won/s", "r/lost/s", "j/x/s", "j/y/s"]


@handlers
async def test_a_rollback_in_the_middle_of_open_bodies(handler: str) -> None:
    make = HANDLERS[handler]

    @workflow
    async def w(ctx: Context) -> None:
        async def body(c: Context, n: int) -> Any:
            await c.step("s", reserve, f"l{n}", rollback=make(f"l{n}"))
            await c.sleep("nap", 1)
            return Loop.continue_(n + 1)

        async def branch(c: Context) -> None:
            await c.loop("l", body, state=0, commit_interval=2, history_keep=0)

        await ctx.join("j", x=branch, y=lambda c: c.listen("never"))

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(4.5)
        await s.crash()
        await run.cancel(compensate=True)
        await s.skip_until(run.ended)
    assert undone() == [f"j/x/l/~{n}/s" for n in (4, 3, 2, 1, 0)]


# -- one at a time, with retries, never twice ------------------------------------------------------------------------


@handlers
async def test_handlers_run_one_at_a_time_and_survive_a_crash(handler: str, simulate: Simulate) -> None:
    running: list[int] = []

    async def slowly(undo: Undo) -> None:
        running.append(1)
        assert len(running) == 1
        await s.clock.sleep(10)
        running.pop()
        ledger.append(f"undo {undo.step}")

    @workflow
    async def w(ctx: Context) -> None:
        for name in ("a", "b", "c"):
            await ctx.step(name, reserve, name, rollback=slowly)
        raise ValueError("no")

    async with simulate() as s:
        run = await s.start(w)
        await s.clock.advance(15)
        assert undone() == ["c"]
        running.clear()
        await s.crash()
        assert [reason.text for reason in await run.waiting()] == ["rollback of `b` running"]
        await failure(s, run)
    assert undone() == ["c", "b", "a"]


@handlers
async def test_a_handler_is_retried(handler: str) -> None:
    attempts: list[int] = []

    async def flaky(undo: Undo) -> None:
        attempts.append(step_info().attempt)
        if len(attempts) < 3:
            raise ConnectionError("away")

    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("a", reserve, "a", rollback=flaky)
        raise ValueError("no")

    async with deciding() as s:
        run = await s.start(w)
        info = await failure(s, run)
        assert info.message == "no"
        assert (await run.history()).of("rollback.step")[0]["attempts"] == 3
    assert attempts == [1, 2, 3]


async def stuck(s: Sim, handler: str) -> SimRun:
    broken.add("b")
    run = await s.start(three(handler, ValueError("no")), id="r")
    await s.settle()
    await run.message("go")
    await s.clock.advance(60)
    return run


@handlers
async def test_a_handler_that_is_exhausted_stops_the_rollback_as_a_dead_letter(
    handler: str, simulate: Simulate
) -> None:
    async with simulate() as s:
        run = await stuck(s, handler)
        assert await run.status() == "failed"
        assert "undo a" not in ledger
        node = next(node for node in (await run.view()).nodes if node.label == "rollback of `b`")
        assert (node.status, node.error is not None) == ("failed", True)
        (letter,) = await s.engine.dlq.list()
        assert letter.label == "rollback of `b`"
        assert "can't be released" in letter.error.message


@handlers
@pytest.mark.parametrize("restart", [False, True], ids=["live", "restarted"])
async def test_a_stuck_rollback_goes_on_when_its_dead_letter_is_retried(
    handler: str, restart: bool, simulate: Simulate
) -> None:
    async with simulate() as s:
        run = await stuck(s, handler)
        if restart:
            await s.crash()
        broken.clear()
        (letter,) = await s.engine.dlq.list()
        await s.engine.dlq.retry(letter.id)
        assert (await failure(s, run)).message == "no"
        assert await s.engine.dlq.list() == []
    assert undone()[0] == "c"
    assert undone()[-2:] == ["b", "a"]
    assert undone().count("c") == 1


@handlers
async def test_a_stuck_rollback_goes_on_when_its_run_is_retried(handler: str, simulate: Simulate) -> None:
    async with simulate() as s:
        run = await stuck(s, handler)
        broken.clear()
        await run.retry()
        assert (await failure(s, run)).message == "no"
    assert undone()[-2:] == ["b", "a"]


@handlers
async def test_a_stuck_rollback_goes_on_without_the_handler_when_it_is_discarded(
    handler: str, simulate: Simulate
) -> None:
    async with simulate() as s:
        run = await stuck(s, handler)
        (letter,) = await s.engine.dlq.list()
        await s.engine.dlq.discard(letter.id)
        assert (await failure(s, run)).message == "no"
        statuses = [event["status"] for event in (await run.history()).of("rollback.step")]
        assert statuses == ["completed", "failed", "discarded", "completed"]
    assert undone()[-1] == "a"


async def test_a_handler_that_says_it_can_not_be_retried_is_a_dead_letter_at_once(simulate: Simulate) -> None:
    calls: list[int] = []

    async def hopeless(undo: Undo) -> None:
        calls.append(1)
        raise CriticalError("hopeless")

    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("a", reserve, "a", rollback=hopeless)
        raise ValueError("no")

    async with simulate() as s:
        run = await s.start(w)
        await s.clock.advance(10)
        assert calls == [1]
        assert await run.status() == "failed"
        (letter,) = await s.engine.dlq.list()
        await s.engine.dlq.discard(letter.id)
        assert (await failure(s, run)).message == "no"


@handlers
async def test_done_handlers_never_repeat(handler: str, simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(three(handler, ValueError("no")))
        await s.settle()
        await run.message("go")
        await failure(s, run)
        assert undone() == ["c", "b", "a"]
        await s.crash()
        await run.compensate()
        await s.settle()
        assert await run.status() == "failed"
    assert undone() == ["c", "b", "a"]


async def test_compensating_a_running_run_is_refused(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(three("named"))
        await s.settle()
        with pytest.raises(Conflict) as caught:
            await run.compensate()
        assert caught.value.code == "kernel.still_running"


async def test_cancelling_a_run_whose_rollback_stopped_changes_nothing(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await stuck(s, "named")
        await run.cancel()
        await s.settle()
        assert await run.status() == "failed"
        (letter,) = await s.engine.dlq.list()
        await s.engine.dlq.discard(letter.id)
        await s.settle()
        assert await run.status() == "failed"


# -- handlers that are not found -------------------------------------------------------------------------------------


@workflow(name="w")
async def diverges(ctx: Context) -> str:
    for name in ("a", "b"):
        await ctx.step(name, reserve, name, rollback=inline(name))
    await ctx.step("new", lambda: 1)
    return "never"


async def test_named_handlers_need_no_workflow_code() -> None:
    @workflow
    async def unrelated(ctx: Context) -> None: ...

    async with deciding() as s:
        run = await s.start(three("named", ValueError("no")), id="r")
        await s.settle()
        await deploy(s, unrelated)
        await run.cancel(compensate=True)
        await s.settle()
        assert await run.status() == "cancelled"
    assert undone() == ["c", "b", "a"]


async def test_an_inline_handler_that_is_not_found_blocks_the_run(simulate: Simulate) -> None:
    @workflow(name="w")
    async def without(ctx: Context) -> str:
        for name in ("a", "b", "c"):
            await ctx.step(name, reserve, name)
        await ctx.listen("go")
        return "done"

    async with simulate() as s:
        run = await s.start(three("inline", ValueError("no")), id="r")
        await s.settle()
        await deploy(s, without)
        await run.cancel(compensate=True)
        await s.settle()
        with pytest.raises(HistoryDivergedError) as caught:
            await s.result(run)
        assert caught.value.code == "CODE_ROLLBACK_UNBOUND"
        assert "no handler for `c`" in str(caught.value)
        assert "make it a @step" in str(caught.value)
        (reason,) = await run.waiting()
        assert reason.kind == "blocked"
        assert await run.status() == "running"
        await deploy(s, three("inline"))
        await s.skip_until(run.ended)
        assert await run.status() == "cancelled"
    assert undone() == ["c", "b", "a"]


async def test_removed_can_give_an_inline_handler_again() -> None:
    @workflow(name="w")
    async def without(ctx: Context) -> str:
        for name in ("a", "b", "c"):
            await ctx.removed(name, "step", rollback=inline(name))
        await ctx.listen("go")
        raise ValueError("no")

    async with deciding() as s:
        run = await s.start(three("inline"), id="r")
        await s.settle()
        await deploy(s, without)
        await run.message("go")
        await failure(s, run)
    assert undone() == ["c", "b", "a"]


async def test_a_step_made_inside_a_function_counts_as_inline() -> None:
    @step
    async def local(undo: Undo) -> None:
        ledger.append(f"undo {undo.step}")

    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("a", reserve, "a", rollback=local)
        await ctx.listen("go")
        raise ValueError("no")

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        await run.message("go")
        await failure(s, run)
    assert undone() == ["a"]


async def test_an_uncaught_failure_cancels_what_is_open_before_it_undoes() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        async def slow() -> None:
            try:
                await s.clock.sleep(1000)
            except asyncio.CancelledError:
                ledger.append("cancelled")
                raise

        await ctx.step("a", reserve, "a", rollback=release)
        task = asyncio.create_task(ctx.step("slow", slow, timeout=None))
        await ctx.sleep("nap", 1)
        del task
        raise ValueError("no")

    async with deciding() as s:
        await failure(s, await s.start(w))
    assert sorted(ledger) == ["a", "cancelled", "undo a"]
