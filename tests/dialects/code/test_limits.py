"""Limits: each is checked, and breaking one ends with a clear error, or not at all."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from plait import Context, Limits, Loop, workflow
from plait.errors import WorkflowCodeError
from plait.testing import sim

from .conftest import Simulate
from .decided import deciding
from .support import failure, same_log

KINDS: dict[str, Callable[[Context, int], Any]] = {
    "step": lambda ctx, n: ctx.step(f"x{n}", lambda: n),
    "sleep": lambda ctx, n: ctx.sleep(f"x{n}", 10),
    "listen": lambda ctx, n: ctx.listen(f"x{n}", timeout=10),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_ten_thousand_operations_may_be_opened_at_once_and_no_more(kind: str) -> None:
    @workflow
    async def w(ctx: Context, count: int) -> int:
        found = await asyncio.gather(*(KINDS[kind](ctx, n) for n in range(count)))
        return len(found)

    async with sim([w]) as s:
        info = await failure(s, await s.start(w, 10_001))
        assert info.code == "CODE_BAD_OPTION"
        assert "open at most 10000 at once" in info.message


async def test_a_thousand_steps_at_once(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> int:
        async def one(n: int) -> int:
            return n

        return sum(await asyncio.gather(*(ctx.step(f"x{n}", one, n) for n in range(1000))))

    async with simulate() as s:
        assert await s.run(w) == sum(range(1000))


async def test_many_operations_one_after_the_other_are_several_decisions() -> None:
    """A run that never waits must let others have their turn."""

    @workflow
    async def w(ctx: Context) -> int:
        for n in range(3500):
            await ctx.sleep(f"s{n}", 0)
        return 3500

    history = await same_log(w)
    assert history.events[-1].data["output"] == 3500


async def test_a_run_that_never_waits_does_not_hold_up_others() -> None:
    @workflow
    async def endless(ctx: Context) -> None:
        n = 0
        while True:
            n += 1
            await ctx.sleep(f"s{n}", 0)

    @workflow
    async def modest(ctx: Context) -> str:
        await ctx.step("a", lambda: 1)
        return "done"

    async with sim([endless, modest], limits=Limits(max_events=30_000)) as s:
        greedy = await s.engine.start(endless)
        other = await s.engine.start(modest)
        assert await other.result() == "done"
        assert await greedy.status() == "running"
        info = await failure(s, await s.start(endless, id="again"))
        assert info.code == "kernel.limit_exceeded"
        assert "events; the limit is 30,000" in info.message


async def test_a_long_run_of_immediate_results_survives_a_crash(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> int:
        async def body(c: Context, n: int) -> Any:
            await c.sleep("s", 0)
            return Loop.continue_(n + 1) if n < 2500 else Loop.break_(n)

        found = await ctx.loop("l", body, state=0)
        await ctx.sleep("nap", 10)
        return found

    async with simulate() as s:
        run = await s.start(w)
        await s.crash()
        assert await s.result(run) == 2500


async def test_names_nest_sixty_four_levels_deep() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        async def deeper(c: Context, level: int) -> int:
            try:
                found = await c.join("j", b=lambda c: deeper(c, level + 2))
            except WorkflowCodeError as error:
                return level if "use at most 64 levels" in str(error) else -1
            return found.b

        return await deeper(ctx, 0)

    async with deciding() as s:
        assert await s.run(w) == 64


async def test_a_payload_has_a_limit_wherever_it_comes_in(simulate: Simulate) -> None:
    @workflow
    async def echo(ctx: Context, given: Any) -> Any:
        message = await ctx.listen("m", timeout=10)
        return message and message.body

    async with simulate(limits=Limits(max_payload=1000)) as s:
        with pytest.raises(Exception, match="the limit is 1,000"):
            await s.engine.start(echo, "x" * 2000)
        run = await s.start(echo, "x")
        with pytest.raises(Exception, match="the limit is 1,000"):
            await run.message("m", "x" * 2000)
        await run.message("m", "small")
        assert await s.result(run) == "small"


async def test_every_output_of_a_workflow_has_that_limit(simulate: Simulate) -> None:
    big = "x" * 2000

    @workflow
    async def w(ctx: Context) -> list[str]:
        async def branch(c: Context) -> str:
            return big

        async def body(c: Context, n: int) -> Any:
            return Loop.continue_(big)

        found: list[str] = []
        for call in (
            lambda: ctx.step("step", lambda: big),
            lambda: ctx.race("race", x=branch),
            lambda: ctx.loop("loop", body, state=0),
            lambda: ctx.send("send", "other", "m", big),
            lambda: ctx.child("child", "w", big),
        ):
            try:
                await call()
            except WorkflowCodeError as error:
                found.append(error.code)
            except ExceptionGroup as group:
                found += [getattr(error, "code", "?") for error in group.exceptions]
        return found

    async with simulate([w], limits=Limits(max_payload=1000)) as s:
        assert await s.run(w) == ["CODE_NOT_ENCODABLE"] * 5
