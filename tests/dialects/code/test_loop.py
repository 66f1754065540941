"""`ctx.loop`: state that lasts, commits, and a history that does not grow."""

import logging
from dataclasses import dataclass
from typing import Any

import pytest

from plait import Context, Loop, RollbackError, Undo, step, workflow

from .conftest import Simulate
from .decided import deciding
from .support import Ledger, StagedRun, failure, same_log

ledger = Ledger()


@pytest.fixture(autouse=True)
def _clean_ledger() -> None:
    ledger.clear()


@step
async def release(undo: Undo) -> None:
    ledger.append(["named", undo.step, undo.output])


def counting(until: int, **options: Any) -> Any:
    @workflow
    async def w(ctx: Context) -> Any:
        async def body(c: Context, n: int) -> Any:
            if n == until:
                return Loop.break_(f"broke at {n}")
            await c.sleep("tick", 1)
            return Loop.continue_(n + 1)

        return await ctx.loop("count", body, state=0, **options)

    return w


async def iterations(run: StagedRun) -> list[int]:
    """Which iterations the history still has."""
    paths = [node.id for node in (await run.view()).nodes]
    return sorted({int(path.split("/")[1][1:]) for path in paths if path.startswith("count/~")})


async def test_a_loop_goes_on_until_it_breaks() -> None:
    async with deciding() as s:
        assert await s.run(counting(7)) == "broke at 7"


async def test_a_body_without_state_may_return_nothing() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        async def body(c: Context) -> Any:
            message = await c.listen("m")
            assert message is not None
            return Loop.break_(message.body) if message.body > 1 else None

        return await ctx.loop("l", body)

    async with deciding() as s:
        run = await s.start(w)
        for n in range(4):
            if await run.status() == "running":
                await run.message("m", n)
                await s.settle()
                await s.crash()
        assert await s.result(run) == 2


async def test_a_body_without_state_may_say_continue() -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        async def body(c: Context) -> Any:
            found = await c.listen("m", timeout=1)
            return Loop.continue_() if found else Loop.break_()

        return await ctx.loop("l", body)

    async with deciding() as s:
        assert await s.run(w) is None


@pytest.mark.parametrize("state", [None, 0, "", [], {}, False], ids=repr)
async def test_any_state_is_a_state_also_an_empty_one(state: Any) -> None:
    @workflow
    async def w(ctx: Context, given: Any) -> Any:
        async def body(c: Context, found: Any) -> Any:
            await c.sleep("nap", 1)
            return Loop.break_([found])

        return await ctx.loop("l", body, state=given)

    async with deciding() as s:
        run = await s.start(w, state)
        await s.settle()
        await s.crash()
        assert await s.result(run) == [state]


async def test_each_iteration_gets_a_copy_of_the_state() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        first: list[int] = []
        seen: list[Any] = []

        async def body(c: Context, state: list[int]) -> Any:
            seen.append(list(state))
            state.append(len(state))
            if len(state) == 3:
                return Loop.break_(seen)
            return Loop.continue_(state)

        found = await ctx.loop("l", body, state=first)
        return [first, found]

    async with deciding() as s:
        assert await s.run(w) == [[], [[], [0], [0, 1]]]


@dataclass
class State:
    left: list[int]
    total: int = 0


async def test_state_may_be_a_dataclass() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        async def body(c: Context, state: State) -> Any:
            if not state.left:
                return Loop.break_(state.total)
            await c.sleep("nap", 1)
            return Loop.continue_(State(state.left[1:], state.total + state.left[0]))

        return await ctx.loop("l", body, state=State([1, 2, 3]))

    async with deciding() as s:
        assert await s.run(w) == 6


# -- commits and trims -----------------------------------------------------------------------------------------------


async def test_it_commits_every_twenty_iterations_and_at_the_break() -> None:
    history = await same_log(counting(45))
    assert [(event["iteration"], event["state"]) for event in history.of("loop.committed")] == [
        (20, 20),
        (40, 40),
        (46, 45),
    ]


async def test_after_twenty_iterations_the_first_ten_go() -> None:
    async with deciding() as s:
        run = await s.start(counting(100, history_every=10, history_keep=10))
        await s.clock.advance(19.5)
        assert await iterations(run) == list(range(20))
        await s.clock.advance(0.5)
        assert await iterations(run) == list(range(10, 21))
        trimmed = (await run.history()).of("loop.trimmed")
        assert trimmed == [{"at": "count", "below": 10}]
        committed = [event["iteration"] for event in (await run.history()).of("loop.committed")]
        assert committed == [20]


async def test_a_trim_commits_first() -> None:
    async with deciding() as s:
        run = await s.start(counting(30, commit_interval=1000, history_every=7, history_keep=3))
        await s.clock.advance(7)
        types = [event.type for event in (await run.history()) if event.type.startswith("loop")]
        assert types == ["loop.committed", "loop.trimmed"]
        await s.crash()
        assert await s.result(run) == "broke at 30"


async def test_history_keep_may_be_nothing() -> None:
    async with deciding() as s:
        run = await s.start(counting(30, history_every=5, history_keep=0))
        await s.clock.advance(5)
        assert await iterations(run) == [5]
        await s.crash()
        assert await s.result(run) == "broke at 30"


async def test_a_break_trims_too() -> None:
    async with deciding() as s:
        run = await s.start(counting(30, history_keep=4))
        await s.result(run)
        assert await iterations(run) == [27, 28, 29]  # the last one, ~30, opened nothing
        history = await run.history()
        assert history.of("loop.trimmed")[-1]["below"] == 27


async def test_a_rebuild_starts_at_the_last_commit() -> None:
    entered: list[int] = []

    @workflow
    async def w(ctx: Context) -> int:
        async def body(c: Context, n: int) -> Any:
            entered.append(n)
            if n == 17:
                return Loop.break_(n)
            await c.sleep("tick", 1)
            return Loop.continue_(n + 1)

        return await ctx.loop("count", body, state=0, commit_interval=5)

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(12)
        await s.settle()
        entered.clear()
        await s.crash()
        await s.settle()
        await run.waiting()
        entered.clear()
        await s.clock.advance(1)
        assert 9 not in entered
        assert await s.result(run) == 17


async def test_a_changed_interval_does_no_harm() -> None:
    from .support import deploy

    def version(**options: Any) -> Any:
        definition = counting(40, **options)
        definition.name = "w"
        return definition

    async with deciding() as s:
        run = await s.start(version(commit_interval=20))
        await s.clock.advance(13)
        await deploy(s, version(commit_interval=5, history_keep=2))
        await s.clock.advance(10)
        await deploy(s, version(commit_interval=1000))
        assert await s.result(run) == "broke at 40"


async def test_a_long_loop_keeps_a_short_history() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        async def body(c: Context, n: int) -> Any:
            if n == 500:
                return Loop.break_(n)
            await c.step("a", lambda: n)
            return Loop.continue_(n + 1)

        return await ctx.loop("count", body, state=0)

    async with deciding() as s:
        run = await s.start(w)
        assert await s.result(run) == 500
        assert len((await run.view()).nodes) <= 45


async def test_loops_nest() -> None:
    @workflow
    async def w(ctx: Context) -> list[list[int]]:
        async def outer(c: Context, rows: list[list[int]]) -> Any:
            async def inner(c: Context, row: list[int]) -> Any:
                await c.sleep("tick", 1)
                return Loop.continue_([*row, len(row)]) if len(row) < 3 else Loop.break_(row)

            rows.append(await c.loop("inner", inner, state=[], commit_interval=2, history_keep=1))
            return Loop.continue_(rows) if len(rows) < 3 else Loop.break_(rows)

        return await ctx.loop("outer", outer, state=[], commit_interval=2, history_keep=0)

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        while await run.status() == "running":
            await s.crash()
            await s.clock.advance(1)
        assert await s.result(run) == [[0, 1, 2]] * 3
        paths = {event["at"] for event in (await run.history()).of("op.opened")}
        assert "outer/~1/inner/~2/tick" in paths


async def test_a_failure_in_a_body_is_the_loops_failure() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async def body(c: Context, n: int) -> Any:
            await c.sleep("nap", 1)
            if n == 3:
                raise ValueError("three")
            return Loop.continue_(n + 1)

        try:
            await ctx.loop("l", body, state=0)
        except ValueError as error:
            await ctx.sleep("nap", 1)
            return str(error)
        return ""

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(4)
        await s.crash()
        assert await s.result(run) == "three"


async def test_a_lambda_may_be_a_body() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        try:
            async with ctx.timeout("limit", 10):
                await ctx.loop("l", lambda c: c.sleep("nap", 3))
        except TimeoutError:
            return f"{ctx.now():%S}"
        return ""

    async with deciding() as s:
        assert await s.run(w) == "10"


# -- rollback in loops -----------------------------------------------------------------------------------------------


def reserving(count: int, handler: Any, **options: Any) -> Any:
    @workflow
    async def w(ctx: Context) -> None:
        async def body(c: Context, n: int) -> Any:
            await c.step("reserve", ledger.does(n, n), rollback=handler(c, n))
            await c.sleep("nap", 1)
            return Loop.continue_(n + 1) if n + 1 < count else Loop.break_()

        await ctx.loop("count", body, state=0, **options)
        await ctx.sleep("after", 1)
        raise RollbackError("no")

    return w


def inline(c: Context, n: int) -> Any:
    async def undo(undo: Undo) -> None:
        ledger.append(["inline", undo.step, n, undo.output])

    return undo


async def test_a_trimmed_step_with_a_named_handler_leaves_its_record() -> None:
    async with deciding() as s:
        run = await s.start(reserving(6, lambda c, n: release, history_every=2, history_keep=0))
        await s.clock.advance(6)
        assert await iterations(run) == []
        await s.crash()
        await failure(s, run)
    undone = [entry for entry in ledger if isinstance(entry, list)]
    assert undone == [["named", f"count/~{n}/reserve", n] for n in reversed(range(6))]


async def test_iterations_with_inline_handlers_are_kept_whole_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "plait.code"):
        async with deciding() as s:
            run = await s.start(reserving(6, inline, history_every=2, history_keep=0))
            await s.clock.advance(6)
            assert await iterations(run) == list(range(6))
            assert "make their rollback handlers @step functions" in caplog.text
            await s.crash()
            await failure(s, run)
    undone = [entry for entry in ledger if isinstance(entry, list)]
    assert undone == [["inline", f"count/~{n}/reserve", n, n] for n in reversed(range(6))]


async def test_inline_handlers_are_found_again_after_a_restart_in_the_middle() -> None:
    async with deciding() as s:
        run = await s.start(reserving(9, inline, commit_interval=4, history_keep=0))
        await s.clock.advance(5.5)
        await s.crash()
        await s.clock.advance(0.1)
        await run.cancel(compensate=True)
        await s.skip_until(run.ended)
        assert await run.status() == "cancelled"
    undone = [entry[2] for entry in ledger if isinstance(entry, list)]
    assert undone == [5, 4, 3, 2, 1, 0]


async def test_only_some_iterations_may_have_inline_handlers() -> None:
    async with deciding() as s:
        handler = lambda c, n: inline(c, n) if n % 3 == 0 else release  # noqa: E731
        run = await s.start(reserving(8, handler, history_every=2, history_keep=1))
        await s.clock.advance(8)
        assert await iterations(run) == [0, 3, 6, 7]
        await s.crash()
        await failure(s, run)
    undone = [int(entry[1].split("/")[1][1:]) for entry in ledger if isinstance(entry, list)]
    assert undone == list(reversed(range(8)))


@dataclass
class Tally:
    count: int


async def test_a_body_that_says_what_its_loop_comes_to_gives_it_that_type(simulate: Simulate) -> None:
    seen: list[Any] = []

    @workflow
    async def w(ctx: Context) -> None:
        async def body(c: Context, n: int) -> Loop[int, Tally]:
            return Loop.continue_(n + 1) if n < 3 else Loop.break_(Tally(n))

        seen.append(await ctx.loop("l", body, state=0))

    async with simulate([w]) as s:
        await s.run(w)
    assert seen == [Tally(3)]
