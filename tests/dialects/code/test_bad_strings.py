"""Text that no store can keep must be refused where it comes in: it must never reach the run loop."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from plait import Context, Loop, workflow
from plait.errors import PlaitError, WorkflowCodeError
from plait.testing import Sim, SimRun

from .conftest import Simulate

SURROGATE = "\ud800"
NUL = "a\0b"


@workflow
async def waits(ctx: Context) -> str:
    await ctx.listen("go", timeout=100)
    return "went"


@workflow
async def child(ctx: Context) -> None: ...


async def _turn(ctx: Context, state: str) -> Loop:
    return Loop.break_()


INSIDE: dict[str, Callable[[Context, str], Any]] = {
    "step": lambda ctx, bad: ctx.step(bad, lambda: 1),
    "listen name": lambda ctx, bad: ctx.listen("m", [bad]),
    "send message": lambda ctx, bad: ctx.send("s", "other", bad),
    "send to": lambda ctx, bad: ctx.send("s", bad, "hello"),
    "send body": lambda ctx, bad: ctx.send("s", "other", "hello", bad),
    "approve by": lambda ctx, bad: ctx.approve("a", by=bad),
    "approve name": lambda ctx, bad: ctx.approve(bad),
    "child id": lambda ctx, bad: ctx.child("c", child, id=bad),
    "child label": lambda ctx, bad: ctx.child("c", child, labels={"a": bad}),
    "child label name": lambda ctx, bad: ctx.child("c", child, labels={bad: "a"}),
    "child definition": lambda ctx, bad: ctx.child("c", bad),
    "branch": lambda ctx, bad: ctx.join("j", {bad: child.fn}),
    "loop state": lambda ctx, bad: ctx.loop("l", _turn, state=bad),
}


@pytest.mark.parametrize("bad", [SURROGATE, NUL], ids=["surrogate", "NUL"])
@pytest.mark.parametrize("case", INSIDE)
async def test_a_workflow_is_told_at_the_call(case: str, bad: str, simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        try:
            await INSIDE[case](ctx, bad)
        except WorkflowCodeError as error:
            return error.code
        return "nothing was raised"

    async with simulate() as s:
        assert (await s.run(w)).startswith("CODE_")


async def _start_label(s: Sim, run: SimRun, bad: str) -> None:
    await s.engine.start(waits, labels={"a": bad})


async def _message_id(s: Sim, run: SimRun, bad: str) -> None:
    await run.message("go", id=bad)


async def _message_name(s: Sim, run: SimRun, bad: str) -> None:
    await run.message(bad)


async def _message_body(s: Sim, run: SimRun, bad: str) -> None:
    await run.message("go", bad)


async def _start_id(s: Sim, run: SimRun, bad: str) -> None:
    await s.engine.start(waits, id=bad)


async def _start_name(s: Sim, run: SimRun, bad: str) -> None:
    await s.engine.start(bad)


async def _cancel(s: Sim, run: SimRun, bad: str) -> None:
    await run.cancel(bad)


async def _fork(s: Sim, run: SimRun, bad: str) -> None:
    await run.fork(at=bad)


async def _fork_edit(s: Sim, run: SimRun, bad: str) -> None:
    await run.fork(edits={"go": bad})


async def _rewind(s: Sim, run: SimRun, bad: str) -> None:
    await run.rewind(bad)


OUTSIDE = [
    _start_label,
    _start_id,
    _start_name,
    _message_id,
    _message_name,
    _message_body,
    _cancel,
    _fork,
    _fork_edit,
    _rewind,
]


@pytest.mark.parametrize("bad", [SURROGATE, NUL], ids=["surrogate", "NUL"])
@pytest.mark.parametrize("call", OUTSIDE, ids=lambda call: call.__name__)
async def test_a_caller_is_told_and_the_engine_goes_on(
    call: Callable[[Sim, SimRun, str], Awaitable[None]], bad: str, simulate: Simulate
) -> None:
    async with simulate() as s:
        run = await s.start(waits)
        with pytest.raises(PlaitError):
            await call(s, run, bad)
        await run.message("go")
        assert await s.result(run) == "went"


@pytest.mark.parametrize("bad", [SURROGATE, NUL], ids=["surrogate", "NUL"])
async def test_an_error_text_may_hold_anything(bad: str, simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        def fails() -> None:
            error = ValueError(bad)
            error.detail = bad  # type: ignore[attr-defined]
            raise error

        try:
            await ctx.step("a", fails, max_attempts=1)
        except Exception as error:
            return type(error.__cause__).__name__
        return ""

    @workflow
    async def fails(ctx: Context) -> None:
        raise ValueError(bad)

    async with simulate() as s:
        assert await s.run(w) == "ValueError"
        run = await s.start(fails)
        await s.skip_until(run.ended)
        assert await run.status() == "failed"
