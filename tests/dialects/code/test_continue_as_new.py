"""Continue-as-new: the same run with a new beginning; what it held comes along or is settled."""

import asyncio
from typing import Any

import pytest

from plait import Context, Limits, Undo, step, workflow
from plait.kernel.snapshot_policy import snapshots_every
from plait.testing import Sim, SimRun, survives_every_crash

from .conftest import Simulate
from .support import Ledger, failure, refused, same_log

undone: list[str] = []


@step
async def undo(what: Undo) -> None:
    undone.append(f"{what.step}:{what.output}")


@workflow
async def countdown(ctx: Context, left: int) -> list[Any]:
    token = str(ctx.uuid())
    drawn = await ctx.step("draw", lambda: token, returns=str)
    message = await ctx.listen("next")
    assert message is not None
    if left > 0:
        ctx.continue_as_new(left - 1)
    return [message.body, drawn == str(token)]


async def test_a_run_goes_on_under_its_id_with_a_new_history(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(countdown, 2)
        for n in range(3):  # what waits comes along
            await run.message("next", n)
        assert await s.result(run) == [2, True]
        history = await run.history()
        assert [event["input"] for event in history.of("run.continued")] == [1, 0]
        draws = [event["output"] for event in history.of("op.closed") if event["at"] == "draw"]
        assert len(set(draws)) == 3
        view = await run.view()
        assert [node.label for node in view.nodes] == ["continued as new, 2 times", "draw", "next"]


async def test_it_is_the_same_however_often_it_is_replayed() -> None:
    async def script(s: Sim, run: SimRun) -> None:
        for n in range(3):
            await s.settle()
            await run.message("next", n, f"m-{n}")

    await same_log(countdown, 2, script)
    assert (await survives_every_crash(countdown, 2, script)).output == [2, True]


async def test_what_is_open_is_settled(simulate: Simulate) -> None:
    ledger = Ledger()

    @workflow
    async def child(ctx: Context) -> None:
        await ctx.listen("never")

    @workflow
    async def w(ctx: Context, again: bool) -> str:
        async def slow(ctx: Context) -> None:
            await ctx.sleep("nap", 1000)

        ctx.on_update("slow", slow)
        if not again:
            return "over"
        waiting = [
            asyncio.ensure_future(ctx.sleep("long", 500)),
            asyncio.ensure_future(ctx.child("c", child, id="child")),
            asyncio.ensure_future(ctx.child("a", child, id="abandoned", on_parent_close="abandon")),
        ]
        await ctx.listen("go")
        await ctx.step("work", ledger.does("work"))
        assert len(waiting) == 3
        ctx.continue_as_new(False)

    async with simulate([child]) as s:
        run = await s.start(w, True)
        await s.settle()
        update = asyncio.ensure_future(run.update("slow"))
        await s.settle()
        await run.message("go")
        assert await s.result(run) == "over"
        with refused("RUN_FINISHED", "began anew before update `slow` was done"):
            await update
        assert (await (await s.engine.get("child")).row()).status == "cancelled"
        assert (await (await s.engine.get("abandoned")).row()).status == "running"
        await s.clock.advance(1000)
        assert ledger == ["work"]


async def test_what_was_done_before_can_still_be_undone(simulate: Simulate) -> None:
    undone.clear()

    @workflow
    async def w(ctx: Context, n: int) -> None:
        await ctx.step("reserve", lambda: n, returns=int, rollback=undo)
        if n < 2:
            ctx.continue_as_new(n + 1)
        raise ValueError("full")

    async with simulate() as s:
        run = await s.start(w, 0)
        assert (await failure(s, run)).message == "full"
        assert undone == ["reserve:2", "reserve:1", "reserve:0"]
    undone.clear()
    await survives_every_crash(w, 0)


async def test_a_snapshot_keeps_what_undoes_each_of_its_beginnings(simulate: Simulate) -> None:
    """All of them have the same names."""
    undone.clear()

    @workflow
    async def w(ctx: Context, n: int) -> None:
        await ctx.step("reserve", lambda: n, returns=int, rollback=undo)
        await ctx.listen("next")
        if n < 3:
            ctx.continue_as_new(n + 1)
        raise ValueError("full")

    with snapshots_every(1):
        async with simulate([w]) as s:
            run = await s.start(w, 0)
            for n in range(4):
                await s.settle()
                await s.crash()
                await run.message("next", n, f"m-{n}")
            assert (await failure(s, run)).message == "full"
    assert undone == ["reserve:3", "reserve:2", "reserve:1", "reserve:0"]


@pytest.mark.parametrize(
    ("code", "text"),
    [("SPINNING", "continues as new"), ("INPUT_INVALID", "does not fit"), ("ROLLBACK_UNBOUND", "nothing could undo")],
)
async def test_what_can_not_go_on_fails_and_says_why(simulate: Simulate, code: str, text: str) -> None:
    @workflow
    async def w(ctx: Context, n: int) -> None:
        if code == "SPINNING":
            ctx.continue_as_new(n)
        await ctx.step("a", lambda: 1, **({"rollback": lambda undo: None} if code == "ROLLBACK_UNBOUND" else {}))
        ctx.continue_as_new("x" if code == "INPUT_INVALID" else n)

    async with simulate() as s:
        run = await s.start(w, 0)
        error = await failure(s, run)
        assert (error.code, text in error.message) == (f"CODE_{code}", True)


async def test_input_for_a_workflow_that_takes_none_is_refused(simulate: Simulate) -> None:
    begun: list[int] = []

    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("a", lambda: begun.append(1))
        if len(begun) < 3:
            ctx.continue_as_new(5)

    async with simulate() as s:
        error = await failure(s, await s.start(w))
        assert (error.code, "`w` takes no input" in error.message) == ("CODE_INPUT_INVALID", True)


async def test_it_may_be_said_inside_of_a_task_group(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context, n: int) -> str:
        async with asyncio.TaskGroup() as group, asyncio.TaskGroup() as inner:
            group.create_task(ctx.sleep("long", 1000))
            inner.create_task(ctx.sleep("longer", 2000))
            await ctx.sleep("short", 1)
            if n < 2:
                ctx.continue_as_new(n + 1)
        return f"after {n}"

    async with simulate() as s:
        assert await s.run(w, 0) == "after 2"


async def test_a_task_group_in_which_something_failed_too_fails_the_run(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        async def fails() -> None:
            await ctx.sleep("as long", 1)
            raise ValueError("no luck")

        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            try:
                await ctx.sleep("short", 2)
            finally:
                ctx.continue_as_new()

    async with simulate() as s:
        assert "no luck" in str((await failure(s, await s.start(w))).parts)


async def test_it_is_for_the_workflow_function_itself(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async def branch(ctx: Context) -> str:
            with refused("CODE_WRONG_CTX", "continue_as_new is called in `j/b`"):
                ctx.continue_as_new()
            return "ok"

        return (await ctx.join("j", b=branch)).b

    async with simulate() as s:
        assert await s.run(w) == "ok"


async def test_a_parent_gets_the_result_of_the_last_one(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context, n: int) -> int:
        await ctx.sleep("nap", 1)
        if n:
            ctx.continue_as_new(n - 1)
        return 42

    @workflow
    async def parent(ctx: Context) -> int:
        return await ctx.child("c", child, 3)

    async with simulate([child]) as s:
        assert await s.run(parent) == 42


async def test_a_run_is_rewound_to_its_last_beginning(simulate: Simulate) -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context, n: int) -> int:
        await ctx.step("note", ledger.does(n))
        if n < 2:
            ctx.continue_as_new(n + 1)
        return n

    async with simulate() as s:
        run = await s.start(w, 0)
        await s.result(run)
        await run.rewind()
        assert await s.result(run) == 2
        assert ledger == [0, 1, 2, 2]


async def test_a_run_may_continue_for_years(simulate: Simulate) -> None:
    """Its old events are compacted, and don't count as events of the run."""

    @workflow
    async def w(ctx: Context, n: int) -> int:
        await ctx.sleep("nap", 1)
        if n < 300:
            ctx.continue_as_new(n + 1)
        return n

    with snapshots_every(50):
        async with simulate(limits=Limits(max_events=400, keep_events=50)) as s:
            run = await s.start(w, 0)
            assert await s.result(run) == 300
            assert len(await run.events()) < 400
