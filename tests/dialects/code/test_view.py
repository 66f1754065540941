"""What people see of a run: nodes, edges, and in words why it waits."""

import asyncio
import contextlib
from typing import Any

from plait import Context, Loop, Retry, RollbackError, step, workflow
from plait.errors import StepExhaustedError

from .conftest import Simulate
from .decided import deciding
from .support import Ledger, StagedRun, failure


async def reasons(run: StagedRun) -> list[str]:
    return [reason.text for reason in await run.waiting()]


@step
async def charge(amount: int) -> str:
    return f"charged {amount}"


async def test_every_operation_is_a_node(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context) -> str:
        return "c"

    @workflow(version="3")
    async def w(ctx: Context) -> str:
        await ctx.step("charge", charge, 5)
        await ctx.join("j", x=lambda c: c.step("s", lambda: 1), y=lambda c: c.sleep("s", 1))
        await ctx.race("r", x=lambda c: c.sleep("s", 1), y=lambda c: c.listen("m"))

        async def body(c: Context, n: int) -> Any:
            await c.step("s", lambda: n)
            return Loop.continue_(n + 1) if n < 1 else Loop.break_("looped")

        await ctx.loop("l", body, state=0)
        await ctx.child("c", child, id="c-7")
        await ctx.version("v", 2)
        await ctx.listen("got", "m")
        with contextlib.suppress(StepExhaustedError):
            await ctx.step("bad", Ledger().fails("x", ValueError("no")), max_attempts=2)
        return "done"

    async with simulate([child, w]) as s:
        run = await s.start(w, id="r")
        await s.clock.advance(5)
        await run.message("m", {"a": 1}, id="m-1")
        await s.result(run)
        view = await run.view()
    assert (view.run_id, view.dialect, view.definition, view.version, view.status) == (
        "r",
        "code",
        "w",
        "3",
        "completed",
    )
    nodes = {node.id: node for node in view.nodes}
    assert [(n.id, n.kind, n.label, n.status, n.parent) for n in view.nodes] == [
        ("charge", "step", "charge", "completed", None),
        ("j", "join", "j", "completed", None),
        ("j/x/s", "step", "s", "completed", "j"),
        ("j/y/s", "sleep", "s", "completed", "j"),
        ("r", "race", "r", "completed", None),
        ("r/x/s", "sleep", "s", "completed", "r"),
        ("r/y/m", "message", "m", "cancelled", "r"),
        ("l", "loop", "l", "completed", None),
        ("l/~0/s", "step", "s", "completed", "l"),
        ("l/~1/s", "step", "s", "completed", "l"),
        ("c", "child", "c", "completed", None),
        ("v", "version", "v", "completed", None),
        ("got", "message", "got", "completed", None),
        ("bad", "step", "bad", "failed", None),
    ]
    assert (nodes["charge"].input, nodes["charge"].output, nodes["charge"].attempts) == ([5], "charged 5", 1)
    assert nodes["j"].detail == "x completed, y completed"
    assert nodes["r"].output == {"winner": "x"}
    assert nodes["l"].output == "looped"
    assert nodes["c"].detail == "run c-7"
    assert nodes["v"].output == 2
    assert nodes["got"].output == [{"id": "m-1", "name": "m", "body": {"a": 1}}]
    assert nodes["bad"].attempts == 2
    assert nodes["bad"].error is not None
    assert "no" in nodes["bad"].error.message
    assert nodes["charge"].started_at is not None
    assert (nodes["r/x/s"].ended_at or 0) - (nodes["r/x/s"].started_at or 0) == 1000


async def test_edges_go_from_what_was_delivered_to_what_was_opened_then() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("a", lambda: 1)
        await asyncio.gather(ctx.step("b", lambda: 1), ctx.sleep("c", 1))
        await ctx.join("j", x=lambda c: c.sleep("s", 1))
        await ctx.step("d", lambda: 1)

    async with deciding() as s:
        run = await s.start(w)
        await s.result(run)
        edges = [(edge.source, edge.target) for edge in (await run.view()).edges]
    assert edges == [("a", "b"), ("a", "c"), ("c", "j"), ("c", "j/x/s"), ("j", "d")]


async def test_a_step_that_runs() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("charge", lambda: s.clock.sleep(10))

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        assert await reasons(run) == ["step `charge` running"]
        (node,) = (await run.view()).nodes
        assert (node.status, node.attempts) == ("running", 1)


async def test_a_step_that_waits_for_a_retry() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        policy = Retry(max_attempts=3, first=120, cap=120)
        await ctx.step("charge", Ledger().fails("x", TimeoutError("gateway timeout")), retry=policy)

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        assert await reasons(run) == ["retry 2 of 3 of `charge` at 2030-01-01 00:02:00 UTC (gateway timeout)"]
        (reason,) = await run.waiting()
        assert (reason.kind, reason.node, reason.until) == ("retry", "charge", s.clock.now() + 120_000)
        (node,) = (await run.view()).nodes
        assert (node.status, node.attempts) == ("retrying", 2)
        assert node.error is not None


async def test_everything_else_a_run_can_wait_for(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context) -> None:
        await ctx.listen("never")

    @workflow
    async def w(ctx: Context) -> None:
        await ctx.join(
            "j",
            a=lambda c: c.sleep("cooldown", 43_200),
            b=lambda c: c.listen("decision", ["approve", "reject"]),
            c=lambda c: c.listen("answer", timeout=60),
            d=lambda c: c.child("risk", child, id="c-7"),
            e=lambda c: c.approve("ok"),
            f=lambda c: c.approve("sure", by="manager", timeout=60),
            g=lambda c: asyncio.sleep(60),
        )

    async with simulate([child, w]) as s:
        run = await s.start(w)
        await s.settle()
        assert await reasons(run) == [
            "sleep `j/a/cooldown` until 2030-01-01 12:00:00 UTC",
            "message `approve` or `reject` (`j/b/decision`)",
            "message `answer` (`j/c/answer`) until 2030-01-01 00:01:00 UTC",
            "child `c-7` (`j/d/risk`)",
            "approval `j/e/ok`",
            "approval `j/f/sure` by manager until 2030-01-01 00:01:00 UTC",
            "timer `j/g/~timer.0` until 2030-01-01 00:01:00 UTC",
        ]
        await s.crash()
        assert len(await reasons(run)) == 7


async def test_an_ended_run_waits_for_nothing(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None: ...

    async with simulate() as s:
        run = await s.start(w)
        await s.result(run)
        assert await run.waiting() == []


async def test_a_run_that_rolls_back_says_so(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("reserve", lambda: 1, rollback=lambda undo: s.clock.sleep(10))
        raise RollbackError("no")

    async with simulate() as s:
        run = await s.start(w)
        await s.settle()
        assert await reasons(run) == ["rollback of `reserve` running"]
        await failure(s, run)


async def test_a_live_run_always_has_a_reason_and_a_view() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("a", lambda: 1)
        await ctx.sleep("nap", 1)
        await ctx.join("j", x=lambda c: c.sleep("s", 1))
        async with ctx.timeout("t", 5):
            await ctx.listen("m", timeout=1)

    async with deciding() as s:
        run = await s.start(w)
        while await run.status() == "running":
            assert await run.waiting()
            assert (await run.view()).nodes
            await s.clock.advance(0.5)
