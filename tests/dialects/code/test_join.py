"""`ctx.join`: all branches, whatever becomes of each."""

import asyncio
from typing import Any

import pytest

from plait import Context, RollbackError, workflow
from plait.code import Results
from plait.errors import JoinError, StepExhaustedError

from .conftest import Simulate
from .decided import deciding
from .support import Ledger, failure


def sleeper(seconds: float, value: Any = None) -> Any:
    async def branch(c: Context) -> Any:
        await c.sleep("nap", seconds)
        return value

    return branch


def failing(seconds: float, error: BaseException) -> Any:
    async def branch(c: Context) -> Any:
        await c.sleep("nap", seconds)
        raise error

    return branch


async def test_a_join_waits_for_all_and_gives_results_by_key_and_attribute() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        found = await ctx.join("j", {"with space": sleeper(3, "c")}, a=sleeper(2, "a"), b=sleeper(1, "b"))
        assert isinstance(found, Results)
        with pytest.raises(AttributeError):
            _ = found.nobody
        return [found.a, found["b"], found["with space"], list(found), f"{ctx.now():%S}"]

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(1.5)
        await s.crash()
        assert await s.result(run) == ["a", "b", "c", ["with space", "a", "b"], "03"]


async def test_branches_are_recorded_before_any_of_them_runs() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.join("j", a=lambda c: c.step("s", lambda: 1), b=sleeper(1))

    async with deciding() as s:
        run = await s.start(w)
        await s.result(run)
        opened = (await run.history()).of("op.opened")
        assert [event["at"] for event in opened] == ["j", "j/a/s", "j/b/nap"]
        assert opened[0]["branches"] == ["a", "b"]


async def test_no_branches_give_an_empty_result() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        found = await ctx.join("j")
        await ctx.sleep("nap", 1)
        return len(found)

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        assert await s.result(run) == 0


async def test_a_join_waits_for_the_others_after_a_failure() -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context) -> list[Any]:
        async def slow(c: Context) -> None:
            await c.sleep("nap", 10)
            await c.step("work", ledger.does("slow"))

        try:
            await ctx.join("j", bad=failing(1, ValueError("no")), slow=slow, worse=failing(2, KeyError("k")))
        except JoinError as error:
            return [f"{ctx.now():%S}", sorted(error.errors), str(error.errors["bad"]), repr(error.errors["worse"])]
        return []

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(5)
        await s.crash()
        assert await s.result(run) == ["10", ["bad", "worse"], "no", "KeyError('k')"]
        (join,) = [node for node in (await run.view()).nodes if node.id == "j"]
        assert join.status == "failed"
        assert join.detail == "bad failed, slow completed, worse failed"
    assert ledger == ["slow"]


def test_a_join_error_is_an_exception_group() -> None:
    assert issubclass(JoinError, ExceptionGroup)


async def test_a_join_error_is_a_group_for_except_star() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        found: list[str] = []
        try:
            await ctx.join("j", a=failing(1, ValueError("a")), b=failing(1, KeyError("b")))
        except* ValueError as group:
            found += [str(error) for error in group.exceptions]
        except* KeyError as group:
            found += [repr(error) for error in group.exceptions]
        return found

    async with deciding() as s:
        assert await s.run(w) == ["a", "KeyError('b')"]


async def test_a_join_error_is_the_same_on_replay() -> None:
    seen: list[Any] = []

    @workflow
    async def w(ctx: Context) -> None:
        try:
            await ctx.join(
                "j",
                a=failing(1, ValueError("a")),
                b=lambda c: c.step("s", Ledger().fails("x", OSError(5, "io")), max_attempts=1),
                c=lambda c: c.join("inner", x=failing(1, KeyError("deep"))),
                ok=sleeper(1),
            )
        except JoinError as error:
            inner = error.errors["c"]
            assert isinstance(inner, JoinError)
            exhausted = error.errors["b"]
            assert isinstance(exhausted, StepExhaustedError)
            seen.append([str(error), repr(error.errors["a"]), repr(exhausted.last_error), repr(inner.errors["x"])])
        await ctx.sleep("nap", 1)

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(1)
        await s.crash()
        await s.result(run)
    assert len(seen) >= 2
    assert seen[0] == seen[-1]
    assert seen[0][1:] == ["ValueError('a')", "OSError(5, 'io')", "KeyError('deep')"]


async def test_an_uncaught_join_error_names_the_branches() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.join("lookup", tax=failing(1, ValueError("no tax")), risk=sleeper(1))

    async with deciding() as s:
        info = await failure(s, await s.start(w))
        assert info.code == "join.failed"
        assert "join `lookup`" in info.message
        assert "`tax`: no tax" in info.message


async def test_a_rollback_error_waits_for_no_sibling(simulate: Simulate) -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context) -> None:
        async def slow(c: Context) -> None:
            try:
                await c.sleep("nap", 1000)
            except asyncio.CancelledError:
                ledger.append("cancelled")
                raise

        await ctx.step("reserve", ledger.does("reserve"), rollback=ledger.undoes("release"))
        await ctx.join("j", slow=slow, bad=failing(5, RollbackError("stop")))

    async with simulate() as s:
        run = await s.start(w)
        info = await failure(s, run)
        assert (info.kind, info.message) == ("rollback", "stop")
        assert s.clock.elapsed == 5000
        statuses = {event["at"]: event.get("status") for event in (await run.history()).of("op.closed")}
        assert statuses["j/slow/nap"] == "cancelled"
    assert ledger == ["reserve", "cancelled", "release"] or ledger == ["reserve", "release"]


async def test_joins_nest() -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        async def outer(c: Context) -> Any:
            inner = await c.join("inner", x=sleeper(1, "x"), y=sleeper(2, "y"))
            return dict(inner)

        return dict(await ctx.join("outer", a=outer, b=outer))

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(1.5)
        await s.crash()
        assert await s.result(run) == {"a": {"x": "x", "y": "y"}, "b": {"x": "x", "y": "y"}}
        paths = [event["at"] for event in (await run.history()).of("op.opened")]
        assert "outer/a/inner/y/nap" in paths


async def test_a_finished_join_is_not_entered_again(simulate: Simulate) -> None:
    entered: list[str] = []

    @workflow
    async def w(ctx: Context) -> int:
        async def branch(c: Context) -> int:
            entered.append(c.path)
            return await c.step("s", lambda: 1)

        found = await ctx.join("j", a=branch, b=branch)
        await ctx.sleep("nap", 1)
        return found.a + found.b

    async with simulate() as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        assert await s.result(run) == 2
    assert entered == ["j/a", "j/b"]


async def test_a_finished_branch_of_an_open_join_is_not_entered_again() -> None:
    entered: list[str] = []

    @workflow
    async def w(ctx: Context) -> list[float]:
        def branch(seconds: float) -> Any:
            async def run(c: Context) -> float:
                entered.append(c.path)
                await c.sleep("nap", seconds)
                return seconds

            return run

        found = await ctx.join("j", quick=branch(1), slow=branch(10))
        return list(found.values())

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(5)
        entered.clear()
        await s.crash()
        assert await s.result(run) == [1, 10]
    assert set(entered) == {"j/slow"}


async def test_a_branch_that_fails_leaves_nothing_running() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async def careless(c: Context) -> None:
            task = asyncio.create_task(c.sleep("background", 1000))
            await c.sleep("nap", 1)
            del task
            raise ValueError("oops")

        try:
            await ctx.join("j", x=careless, y=sleeper(5))
        except JoinError:
            return f"{ctx.now():%S}"
        return ""

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(2)
        statuses = {event["at"]: event.get("status") for event in (await run.history()).of("op.closed")}
        assert statuses["j/x/background"] == "cancelled"
        assert await s.result(run) == "05"


async def test_branches_made_in_a_loop_keep_their_own_values() -> None:
    @workflow
    async def w(ctx: Context) -> dict[str, int]:
        return dict(await ctx.join("j", {f"b{n}": lambda c, n=n: c.step("s", lambda: n) for n in range(20)}))

    async with deciding() as s:
        assert await s.run(w) == {f"b{n}": n for n in range(20)}


async def test_data_leaves_a_body_only_by_its_result() -> None:
    """What a branch puts into an outer variable is gone after a replay; this is why it must return it."""

    @workflow
    async def w(ctx: Context) -> list[str]:
        outer: list[str] = []

        async def branch(c: Context) -> str:
            found = await c.step("s", lambda: "result")
            outer.append(found)
            return found

        joined = await ctx.join("j", x=branch)
        await ctx.sleep("nap", 1)
        return [*outer, joined.x]

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        assert await s.result(run) == ["result"]


async def test_a_branch_may_be_called_as_a_method_of_dicts_is(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        found = await ctx.join("j", items=lambda c: c.step("s", lambda: 1), keys=lambda c: c.step("s", lambda: 2))
        return [found.items, found.keys, found["items"], dict(found), sorted(found), found.get("items")]

    async with simulate([w]) as s:
        assert await s.run(w) == [1, 2, 1, {"items": 1, "keys": 2}, ["items", "keys"], 1]
