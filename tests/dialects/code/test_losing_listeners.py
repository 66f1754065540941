"""A message that a listener took and did not hear waits again, where it waited."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from plait import Context, workflow
from plait.errors import HistoryDivergedError, RunFailed

from .conftest import Simulate
from .decided import deciding
from .support import deploy, same_log

Contest = Callable[[Context], Awaitable[Any]]


async def _race(ctx: Context) -> None:
    await ctx.race("r", x=lambda c: c.listen("x"), y=lambda c: c.listen("y"))


async def _wait(ctx: Context) -> None:
    tasks = [asyncio.ensure_future(ctx.listen(name)) for name in ("x", "y")]
    _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()


async def _gather(ctx: Context) -> None:
    heard = asyncio.ensure_future(asyncio.gather(ctx.listen("y")))
    await ctx.listen("x")
    heard.cancel()


async def _timeout(ctx: Context) -> None:
    await ctx.listen("x")
    with contextlib.suppress(TimeoutError):
        async with ctx.timeout("t", 0):
            await ctx.listen("y")


async def _plain_timeout(ctx: Context) -> None:
    await ctx.listen("x")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0):
            await ctx.listen("y")


async def _group(ctx: Context) -> None:
    async def fail() -> None:
        raise ValueError

    await ctx.listen("x")
    with contextlib.suppress(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.listen("y"))  # type: ignore[arg-type]
            group.create_task(fail())


async def _branch_of_a_loser(ctx: Context) -> None:
    await ctx.race("r", x=lambda c: c.listen("x"), y=lambda c: c.join("j", y=lambda c: c.listen("y")))


async def _batch(ctx: Context) -> None:
    await ctx.race("r", x=lambda c: c.listen("x"), y=lambda c: c.listen_n("y", limit=2))


CONTESTS = [_race, _wait, _gather, _timeout, _plain_timeout, _group, _branch_of_a_loser, _batch]


@pytest.mark.parametrize("contest", CONTESTS)
async def test_what_a_loser_took_is_heard_by_who_listens_next_in_its_old_order(contest: Contest) -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        await ctx.listen("go")
        await contest(ctx)
        return [(await ctx.listen(f"left{n}", "y")).body for n in range(3)]  # type: ignore[union-attr]

    async def script(s: Any, run: Any) -> None:
        for n, name in enumerate(("y", "x", "y", "y", "go")):
            await run.message(name, n, id=f"m{n}")

    async with deciding() as s:
        run = await s.start(w)
        await script(s, run)
        assert await s.result(run) == [0, 2, 3]
        (await run.history()).assert_recorded_once()
    await same_log(w, script=script)


async def test_another_who_listens_gets_what_a_loser_gives_back() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        await ctx.listen("go")
        loser = asyncio.ensure_future(ctx.listen("loser", "y"))
        other = asyncio.ensure_future(ctx.listen("other", "y", timeout=3600))
        await asyncio.sleep(0)  # both listen now
        loser.cancel()
        found = await other
        return [None if found is None else found.body]

    async with deciding() as s:
        run = await s.start(w)
        await run.message("y", 1)
        await run.message("go")
        assert await s.result(run) == [1]


async def test_what_was_taken_when_the_run_failed_waits_for_a_retry(simulate: Simulate) -> None:
    broken = [True]

    async def check() -> None:
        if broken[0]:
            raise ValueError

    @workflow
    async def w(ctx: Context) -> Any:
        await ctx.listen("go")

        async def heard() -> Any:
            found = await ctx.listen("y")
            return None if found is None else found.body

        async def failing() -> None:
            await ctx.step("check", check, max_attempts=1)

        return (await asyncio.gather(heard(), failing()))[0]

    async with simulate() as s:
        run = await s.start(w)
        await run.message("go")
        with pytest.raises(RunFailed):
            await s.result(run)
        broken[0] = False
        await run.retry()
        await s.settle()
        await run.message("y", 1)
        assert await s.result(run) == 1


async def test_a_blocked_run_takes_no_message_and_no_timeout_in_the_place_of_one(simulate: Simulate) -> None:
    @workflow(name="w")
    async def before(ctx: Context) -> Any:
        await ctx.step("old", lambda: None)
        return await ctx.listen("a", "m", timeout=10)

    @workflow(name="w")
    async def broken(ctx: Context) -> Any:
        await ctx.step("new", lambda: None)
        return await ctx.listen("a", "m", timeout=10)

    @workflow(name="w")
    async def after(ctx: Context) -> Any:
        await ctx.step("old", lambda: None)
        await ctx.removed("a", "message")
        return [(await ctx.listen(f"b{n}", "m")).body for n in range(2)]  # type: ignore[union-attr]

    async with simulate([before]) as s:
        run = await s.start("w")
        await s.settle()
        await deploy(s, broken)
        await run.message("m", 1)
        await run.message("m", 2)
        with pytest.raises(HistoryDivergedError):
            await s.result(run)
        await s.clock.advance(60)
        assert not [data for data in (await run.history()).of("op.closed") if data["at"] == "a"]
        await deploy(s, after)
        assert await s.result(run) == [1, 2]


async def test_a_listener_whose_time_passes_while_its_run_is_blocked_hears_what_came(simulate: Simulate) -> None:
    @workflow(name="w")
    async def good(ctx: Context) -> list[Any]:
        await ctx.step("old", lambda: None)
        found = await asyncio.gather(
            ctx.listen("a", ["m", "n"]), ctx.listen("b", ["m", "n"], timeout=10), ctx.listen("c", "m", timeout=10)
        )
        return [None if each is None else each.body for each in found]

    @workflow(name="w")
    async def bad(ctx: Context) -> list[Any]:
        return await ctx.step("new", list)

    async with simulate([good]) as s:
        run = await s.start("w")
        await s.settle()
        await deploy(s, bad)
        for n, name in enumerate(("m", "n")):
            await run.message(name, n)
        await s.clock.advance(60)
        await deploy(s, good)
        assert await s.result(run) == [0, 1, None]


async def test_messages_that_wait_again_after_a_rewind_are_in_order(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        first = await ctx.listen("first", "b")
        await ctx.race("r", x=lambda c: c.listen("a"), y=lambda c: c.listen("b"))
        found = [first, *[await ctx.listen(f"l{n}", ["a", "b"]) for n in range(2)]]
        return [None if each is None else each.body for each in found]

    async with simulate() as s:
        run = await s.start(w)
        for n, name in enumerate(("a", "b", "a", "b")):
            await run.message(name, n)
        assert await s.result(run) == [1, 2, 3]
        for at in ("r", None, "l0"):
            await run.rewind(at)
            assert await s.result(run) == [1, 2, 3]
