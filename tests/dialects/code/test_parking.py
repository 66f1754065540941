"""A run that waits is parked: in a cache while there is room, else on disk only. Its code must not notice."""

import asyncio
import gc
from typing import Any

import pytest

from plait import Context, Loop, RollbackError, workflow
from plait.errors import EvictedError, PlaitError
from plait.testing import sim

from .conftest import Simulate
from .support import Ledger, failure


async def test_waiting_raises_nothing_through_user_code(simulate: Simulate) -> None:
    raised: list[BaseException] = []

    @workflow
    async def w(ctx: Context) -> str:
        try:
            await ctx.sleep("nap", 10)
            await ctx.listen("m", timeout=10)
        except BaseException as error:
            raised.append(error)
            raise
        return "done"

    async with simulate() as s:
        assert await s.run(w) == "done"
    assert [error for error in raised if not isinstance(error, GeneratorExit)] == []


async def test_a_dropped_run_runs_its_finally_blocks_but_can_not_touch_ctx() -> None:
    seen: list[Any] = []

    @workflow
    async def w(ctx: Context) -> str:
        try:
            await ctx.sleep("nap", 10)
        finally:
            seen.append("plain code")
            try:
                await ctx.step("cleanup", lambda: seen.append("the step ran"))
            except BaseException as error:
                seen.append(type(error))
                raise
        return "done"

    async with sim([w], code_cache=0) as s:
        run = await s.start(w)
        await s.settle()
        assert seen == ["plain code", EvictedError]
        assert [event["at"] for event in (await run.history()).of("op.opened")] == ["nap"]
        seen.clear()
        assert await s.result(run) == "done"
        assert seen[-2:] == ["plain code", "the step ran"]


async def test_a_dropped_run_can_not_go_on_in_secret() -> None:
    """Whatever its code catches, every ctx call raises again."""
    seen: list[str] = []

    @workflow
    async def w(ctx: Context) -> str:
        try:
            await ctx.sleep("nap", 10)
        except BaseException:
            for name in ("a", "b", "c"):
                try:
                    ctx.step(name, lambda: None)
                except EvictedError:
                    seen.append(name)
            for use in (ctx.random, ctx.uuid):
                try:
                    use()
                except EvictedError:
                    seen.append("draw")
            raise
        return "done"

    async with sim([w], code_cache=0) as s:
        run = await s.start(w)
        await s.settle()
        assert seen == ["a", "b", "c", "draw", "draw"]
        assert await s.result(run) == "done"


async def test_a_finally_that_awaits_asyncio_is_cut_off() -> None:
    seen: list[str] = []

    @workflow
    async def w(ctx: Context) -> str:
        try:
            await ctx.sleep("nap", 10)
        finally:
            seen.append("before")
            await asyncio.sleep(1)
            seen.append("after")
        return "done"

    async with sim([w], code_cache=0) as s:
        run = await s.start(w)
        await s.settle()
        assert seen == ["before"]
        assert await s.result(run) == "done"


async def test_code_that_waits_as_it_is_left_is_dropped_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    """The end of a group does, and a `finally` may; to the code around it that is no failure."""
    seen: list[BaseException] = []

    async def grouped(ctx: Context) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.sleep("aside", 5))
            try:
                await ctx.sleep("nap", 10)
            finally:
                await asyncio.sleep(0)

    @workflow
    async def w(ctx: Context) -> str:
        try:
            await grouped(ctx)
        except Exception as error:
            seen.append(error)
            raise
        return "done"

    async with sim([w], code_cache=0) as s:
        assert await s.run(w) == "done"
    assert (seen, caplog.text) == ([], "")


async def test_tasks_branches_and_bodies_are_dropped_too() -> None:
    seen: list[str] = []

    @workflow
    async def w(ctx: Context) -> str:
        async def waits(c: Context, name: str) -> None:
            try:
                await c.sleep(name, 10)
            finally:
                seen.append(name)

        async def body(c: Context) -> Any:
            await waits(c, "body")
            return Loop.break_()

        task = asyncio.create_task(waits(ctx, "task"))
        await ctx.join("j", x=lambda c: waits(c, "x"), y=lambda c: c.loop("l", body))
        await task
        return "done"

    async with sim([w], code_cache=0) as s:
        run = await s.start(w)
        await s.settle()
        assert sorted(seen) == ["body", "task", "x"]
        assert await s.result(run) == "done"


async def test_control_signals_pass_except_exception(simulate: Simulate) -> None:
    assert not issubclass(EvictedError, Exception)
    assert not issubclass(RollbackError, Exception)

    @workflow
    async def w(ctx: Context) -> str:
        def gives_up() -> None:
            raise RollbackError("enough")

        try:
            await ctx.step("a", gives_up)
        except Exception:
            return "swallowed"
        return ""

    async with simulate() as s:
        info = await failure(s, await s.start(w))
        assert info.kind == "rollback"
        assert info.message == "enough"


async def test_a_rollback_error_may_be_caught_by_name(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        def gives_up() -> None:
            raise RollbackError("enough")

        try:
            await ctx.step("a", gives_up)
        except RollbackError as error:
            await ctx.sleep("nap", 1)
            return f"caught: {error}"
        return ""

    async with simulate() as s:
        assert await s.run(w) == "caught: enough"


async def test_the_cache_keeps_the_latest_runs_only() -> None:
    entered: list[str] = []

    @workflow
    async def w(ctx: Context) -> str:
        entered.append(ctx.run_id)
        await ctx.listen("go")
        return ctx.run_id

    async with sim([w], code_cache=2) as s:
        runs = [await s.start(w, id=f"r{n}") for n in range(4)]
        await s.settle()
        assert entered == ["r0", "r1", "r2", "r3"]
        await runs[3].message("go")
        assert await s.result(runs[3]) == "r3"
        assert entered == ["r0", "r1", "r2", "r3"]  # it was in the cache
        await runs[0].message("go")
        assert await s.result(runs[0]) == "r0"
        assert entered == ["r0", "r1", "r2", "r3", "r0"]  # it was not, and was played again


async def test_a_run_without_a_cache_is_played_again_at_every_input() -> None:
    entered: list[int] = []

    @workflow
    async def w(ctx: Context) -> int:
        entered.append(1)
        for n in range(5):
            await ctx.sleep(f"nap:{n}", 1)
        return len(entered)

    async with sim([w], code_cache=0) as s:
        assert await s.run(w) == 6
    entered.clear()
    async with sim([w], code_cache=10) as s:
        assert await s.run(w) == 1


async def test_steps_are_never_repeated_by_a_replay(simulate: Simulate) -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context) -> list[int]:
        found: list[int] = []
        for n in range(5):
            found.append(await ctx.step(f"s{n}", ledger.does(n, n)))
            await ctx.sleep(f"nap:{n}", 1)
        return found

    async with simulate() as s:
        run = await s.start(w)
        for _ in range(4):
            await s.clock.advance(1)
            await s.crash()
        assert await s.result(run) == [0, 1, 2, 3, 4]
    assert ledger == [0, 1, 2, 3, 4]


async def test_replay_writes_nothing(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        for n in range(5):
            await ctx.step(f"s{n}", lambda: None)
        await ctx.listen("never")

    async with simulate() as s:
        run = await s.start(w)
        await s.settle()
        before = str(await run.history())
        for _ in range(3):
            await s.crash()
            await s.settle()
            await run.view()
            await run.waiting()
        assert str(await run.history()) == before


async def test_random_numbers_and_ids_repeat_on_replay(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        first = [ctx.random().random(), str(ctx.uuid()), ctx.random().randint(1, 10**9)]
        recorded = await ctx.step("note", lambda: first)

        async def branch(c: Context) -> list[Any]:
            return [c.random().random(), str(c.uuid())]

        both = await ctx.join("j", x=branch, y=branch)
        await ctx.sleep("nap", 1)
        last = [ctx.random().random(), str(ctx.uuid())]
        return [recorded == first, both.x != both.y, last[0] not in first, both.x, both.y]

    async with simulate() as s:
        run = await s.start(w, id="r")
        await s.settle()
        await s.crash()
        found = await s.result(run)
        assert found[:3] == [True, True, True]
        again = await s.run(w, id="another")
        assert again[3] != found[3]  # every run has a seed of its own


async def test_a_leaked_ctx_is_dead_after_the_run() -> None:
    leaked: list[Context] = []

    @workflow
    async def w(ctx: Context) -> None:
        leaked.append(ctx)

    async with sim([w]) as s:
        await s.run(w)
        with pytest.raises((EvictedError, PlaitError)):
            leaked[0].step("a", lambda: None)


async def test_a_parked_run_leaves_no_warnings_behind(recwarn: pytest.WarningsRecorder) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        tasks = [asyncio.create_task(ctx.sleep(f"n{n}", 10)) for n in range(3)]
        await asyncio.gather(*tasks)

    async with sim([w], code_cache=0) as s:
        run = await s.start(w)
        await s.settle()
        gc.collect()
        await s.result(run)
    gc.collect()
    assert [str(warning.message) for warning in recwarn.list] == []
