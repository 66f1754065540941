"""Changing code under live runs: what fits goes on, what does not is blocked and can be mended."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from plait import Context, CriticalError, Loop, step, workflow
from plait.errors import HistoryDivergedError

from .conftest import Simulate
from .decided import deciding
from .support import Ledger, Stage, StagedRun, deploy, failure

Body = Callable[[Context], Awaitable[Any]]


def code(body: Body) -> Any:
    """A version of the workflow `w`."""
    return workflow(name="w")(body)


async def blocked(s: Stage, run: StagedRun) -> HistoryDivergedError:
    with pytest.raises(HistoryDivergedError) as caught:
        await s.result(run)
    assert await run.status() == "running"
    return caught.value


@workflow(name="w")
async def old(ctx: Context) -> str:
    await ctx.step("reserve", lambda: "r")
    await ctx.sleep("nap", 100)
    return "old"


async def started(s: Stage, definition: Any = old, input: Any = None) -> Any:
    run = await s.start(definition, input, id="o-1")
    await s.settle()
    return run


# -- what fits -------------------------------------------------------------------------------------------------------


async def test_code_after_the_last_recorded_operation_may_change() -> None:
    async def new(ctx: Context) -> str:
        await ctx.step("reserve", lambda: "r")
        await ctx.sleep("nap", 5)
        return await ctx.step("more", lambda: "new")

    async with deciding() as s:
        run = await started(s)
        await deploy(s, code(new))
        assert await s.result(run) == "new"
        loaded = (await run.history()).of("code.loaded")
        assert len(loaded) == 2
        assert loaded[0]["hash"] != loaded[1]["hash"]


async def test_finished_steps_may_change_their_order() -> None:
    def ordered(*names: str) -> Any:
        async def w(ctx: Context) -> list[str]:
            found = [await ctx.step(name, lambda name=name: name) for name in names]
            await ctx.sleep("nap", 10)
            return found

        return code(w)

    async with deciding() as s:
        run = await started(s, ordered("a", "b", "c"))
        await deploy(s, ordered("c", "a", "b"))
        assert await s.result(run) == ["c", "a", "b"]


async def test_what_a_finished_body_does_may_change() -> None:
    def with_branch(name: str) -> Any:
        async def w(ctx: Context) -> Any:
            async def branch(c: Context) -> Any:
                return await c.step(name, lambda: name)

            async def body(c: Context) -> Any:
                return Loop.break_(await c.step(name, lambda: name))

            joined = await ctx.join("j", x=branch)
            raced = await ctx.race("r", x=branch)
            looped = await ctx.loop("l", body)
            await ctx.sleep("nap", 10)
            return [joined.x, raced.value, looped]

        return code(w)

    async with deciding() as s:
        run = await started(s, with_branch("before"))
        await deploy(s, with_branch("after"))
        assert await s.result(run) == ["before", "before", "before"]


async def test_the_function_and_the_options_of_a_step_may_change() -> None:
    def with_attempts(attempts: int) -> Any:
        async def w(ctx: Context) -> str:
            await ctx.step("a", lambda: attempts, max_attempts=attempts)
            await ctx.sleep("nap", 10)
            return "done"

        return code(w)

    async with deciding() as s:
        run = await started(s, with_attempts(2))
        await deploy(s, with_attempts(5))
        assert await s.result(run) == "done"


@pytest.mark.parametrize("marked_first", [True, False])
async def test_a_plain_function_may_become_a_step_and_back(marked_first: bool) -> None:
    def code_with(marked: bool) -> Any:
        async def double(number: int) -> int:
            await s.clock.sleep(10)
            return number * 2

        fn = step(double) if marked else double

        async def w(ctx: Context) -> int:
            return await ctx.step("double", fn, 4)

        return code(w)

    async with deciding() as s:
        run = await started(s, code_with(marked_first))
        await deploy(s, code_with(not marked_first))
        assert await s.result(run) == 8


# -- what does not ---------------------------------------------------------------------------------------------------


async def test_a_renamed_step_blocks_the_run(simulate: Simulate) -> None:
    ledger = Ledger()

    async def new(ctx: Context) -> str:
        await ctx.step("hold", ledger.does("hold"), rollback=ledger.undoes("never"))
        await ctx.sleep("nap", 100)
        return "new"

    async with simulate() as s:
        run = await started(s)
        before = await run.history()
        await deploy(s, code(new))
        await s.clock.advance(200)
        error = await blocked(s, run)
        assert error.code == "CODE_DIVERGED"
        text = (
            "run o-1: history has step `reserve`, the code asked for step `hold`. "
            'Renamed or deleted: `await ctx.removed("reserve", "step")`. '
            'New code before it: `if await ctx.version("with hold", 2) >= 2:`'
        )
        assert text in str(error)
        (reason,) = await run.waiting()
        assert (reason.kind, reason.text) == ("blocked", f"blocked: {text}")
        history = await run.history()
        event = history.of("run.blocked")[0]
        assert (event["code"], event["at"], event["expected"]) == ("CODE_DIVERGED", "reserve", "step `reserve`")
        assert [e.type for e in history][: len(before)] == [e.type for e in before]
        assert [e["at"] for e in history.of("op.opened")] == ["reserve", "nap"]
    assert ledger == []  # what was held never ran, and nothing was rolled back


async def test_the_gate_that_is_advised_lets_old_and_new_runs_go_on(simulate: Simulate) -> None:
    """Whatever is behind it has a name of its own, so the gate has another."""

    async def hold(ctx: Context) -> str:
        await ctx.step("hold", lambda: 1)
        return await reserve(ctx)

    async def reserve(ctx: Context) -> str:
        await ctx.step("reserve", lambda: 1)
        await ctx.sleep("nap", 100)
        return "over"

    async with simulate() as s:
        run = await started(s, code(reserve))
        await deploy(s, code(hold))
        gate = re.findall(r'if await ctx.version\("(.+?)", 2\)', str(await blocked(s, run)))[0]

        async def gated(ctx: Context) -> str:
            if await ctx.version(gate, 2) >= 2:
                await ctx.step("hold", lambda: 1)
            return await reserve(ctx)

        await deploy(s, code(gated))
        assert await s.result(run) == await s.run(code(gated)) == "over"


async def test_other_branches_are_named_with_what_lets_both_stay(simulate: Simulate) -> None:
    def joined(*branches: str) -> Any:
        async def w(ctx: Context) -> None:
            await ctx.join("j", {name: lambda c: c.sleep("nap", 100) for name in branches})

        return code(w)

    async with simulate() as s:
        run = await started(s, joined("a", "b"))
        await deploy(s, joined("a", "c"))
        assert (
            "history has join with branches a, b, the code asked for join `j` with branches a, c. "
            'Give the new one another name, after `await ctx.removed("j", "join")`. '
            'Or keep both, the old one in the `else` of `if await ctx.version("with j", 2) >= 2:`'
        ) in str(await blocked(s, run))


async def test_a_name_is_quoted_as_code_would_have_it(simulate: Simulate) -> None:
    async def quoted(ctx: Context) -> None:
        await ctx.sleep('say "hi"', 100)

    async def nothing(ctx: Context) -> None:
        await ctx.listen("m")

    async with simulate() as s:
        run = await started(s, code(quoted))
        await deploy(s, code(nothing))
        assert r'`await ctx.removed("say \"hi\"", "sleep")`' in str(await blocked(s, run))


KINDS: dict[str, Callable[[Context], Any]] = {
    "step": lambda ctx: ctx.step("x", lambda: 1),
    "sleep": lambda ctx: ctx.sleep("x", 0),
    "message": lambda ctx: ctx.listen("x", timeout=0),
    "join": lambda ctx: ctx.join("x"),
    "race": lambda ctx: ctx.race("x", a=lambda c: c.sleep("s", 0)),
    "loop": lambda ctx: ctx.loop("x", _once),
    "version": lambda ctx: ctx.version("x", 2),
    "send": lambda ctx: ctx.send("x", "nobody", "m"),
    "child": lambda ctx: ctx.child("x", "empty"),
    "approval": lambda ctx: ctx.approve("x", timeout=0),
}


async def _once(c: Context) -> Any:
    return Loop.break_(1)


@workflow
async def empty(ctx: Context) -> None: ...


@pytest.mark.parametrize("was", KINDS)
async def test_another_kind_in_the_same_place_blocks(was: str, simulate: Simulate) -> None:
    def with_kind(kind: str) -> Any:
        async def w(ctx: Context) -> str:
            await KINDS[kind](ctx)
            await ctx.listen("go")
            return kind

        return code(w)

    becomes = "step" if was != "step" else "sleep"
    async with simulate([empty]) as s:
        run = await started(s, with_kind(was))
        await s.clock.advance(1)
        await deploy(s, with_kind(becomes), empty)
        await run.message("go")
        error = await blocked(s, run)
        assert f"history has {was} `x`, the code asked for {becomes} `x`" in str(error)
        await deploy(s, with_kind(was), empty)
        assert await s.result(run) == was


async def test_a_deleted_step_blocks() -> None:
    async def new(ctx: Context) -> str:
        await ctx.sleep("nap", 100)
        return "new"

    async with deciding() as s:
        run = await started(s)
        await deploy(s, code(new))
        await s.clock.advance(200)
        assert "history has step `reserve`" in str(await blocked(s, run))


async def test_a_workflow_that_ends_before_its_history_blocks() -> None:
    async def new(ctx: Context) -> str:
        return await ctx.step("reserve", lambda: "r")

    async with deciding() as s:
        run = await started(s)
        await deploy(s, code(new))
        await s.clock.advance(200)
        error = await blocked(s, run)
        assert "history has sleep `nap`, the code asked for the end of the workflow" in str(error)


async def test_a_workflow_that_fails_before_its_history_blocks() -> None:
    async def new(ctx: Context) -> str:
        raise ValueError("a bug of the deploy")

    async with deciding() as s:
        run = await started(s)
        await deploy(s, code(new))
        await s.clock.advance(200)
        assert "history has step `reserve`" in str(await blocked(s, run))
        await deploy(s, old)
        assert await s.result(run) == "old"


async def test_changed_branches_block_an_open_and_a_closed_join() -> None:
    def with_branches(*names: str, seconds: float) -> Any:
        async def w(ctx: Context) -> list[str]:
            found = await ctx.join("j", {name: lambda c: c.sleep("s", seconds) for name in names})
            await ctx.listen("go")
            return list(found)

        return code(w)

    for seconds in (0, 50):
        async with deciding() as s:
            run = await started(s, with_branches("a", "b", seconds=seconds))
            await deploy(s, with_branches("a", "c", seconds=seconds))
            await s.clock.advance(60)
            await run.message("go")
            assert "history has join with branches a, b" in str(await blocked(s, run))
            await deploy(s, with_branches("b", "a", seconds=seconds))
            assert sorted(await s.result(run)) == ["a", "b"]


@pytest.mark.parametrize("scope", ["branch", "race", "iteration", "nested"])
async def test_divergence_is_noticed_in_every_scope(scope: str) -> None:
    def with_name(name: str) -> Any:
        async def inner(c: Context) -> Any:
            await c.step(name, lambda: name)
            await c.listen("go")
            return Loop.break_("done") if scope in ("iteration", "nested") else "done"

        async def w(ctx: Context) -> Any:
            match scope:
                case "branch":
                    return (await ctx.join("j", x=inner)).x
                case "race":
                    return (await ctx.race("r", x=inner)).value
                case "iteration":
                    return await ctx.loop("l", inner)
                case _:
                    return (await ctx.join("j", x=lambda c: c.loop("l", inner))).x

        return code(w)

    places = {"branch": "j/x", "race": "r/x", "iteration": "l/~0", "nested": "j/x/l/~0"}
    async with deciding() as s:
        run = await started(s, with_name("before"))
        await deploy(s, with_name("after"))
        await run.message("go")
        assert f"history has step `{places[scope]}/before`" in str(await blocked(s, run))
        await deploy(s, with_name("before"))
        assert await s.result(run) == "done"


async def test_a_result_that_misfits_its_new_type_blocks() -> None:
    def typed(type: Any) -> Any:
        async def w(ctx: Context) -> str:
            found = await ctx.step("a", lambda: {"n": 1}, returns=type)
            await ctx.sleep("nap", 10)
            return f"{found}"

        return code(w)

    async with deciding() as s:
        run = await started(s, typed(Any))
        await deploy(s, typed(list[int]))
        await s.clock.advance(10)
        error = await blocked(s, run)
        assert error.code == "CODE_DECODE"
        assert "`a`" in str(error)
        assert "`array`" in str(error)
        await deploy(s, typed(dict[str, int]))
        assert await s.result(run) == "{'n': 1}"


async def test_an_input_that_misfits_its_new_type_blocks() -> None:
    async def untyped(ctx: Context, input: Any) -> str:
        await ctx.sleep("nap", 10)
        return "done"

    async def typed(ctx: Context, input: int) -> str:
        await ctx.sleep("nap", 10)
        return "done"

    async with deciding() as s:
        run = await started(s, workflow(name="w")(untyped), "text")
        await deploy(s, workflow(name="w")(typed))
        await s.clock.advance(10)
        error = await blocked(s, run)
        assert error.code == "CODE_DECODE"
        assert "input" in str(error)
        await deploy(s, workflow(name="w")(untyped))
        assert await s.result(run) == "done"


async def test_a_type_whose_constructor_fails_blocks_instead_of_harming_the_engine() -> None:
    @dataclass
    class Picky:
        n: int

        def __post_init__(self) -> None:
            made.append(self.n)
            if len(made) > 1:  # the result was checked before it was recorded
                raise KeyError("picky")

    made: list[int] = []

    async def w(ctx: Context) -> str:
        await ctx.step("a", lambda: {"n": 1}, returns=Picky)
        return "never"

    async with deciding() as s:
        run = await started(s, code(w))
        error = await blocked(s, run)
        assert error.code == "CODE_DECODE"
        assert "picky" in str(error)


# -- blocked runs ----------------------------------------------------------------------------------------------------


async def diverging(ctx: Context) -> str:
    await ctx.step("other", lambda: 1)
    return "never"


async def test_inputs_of_a_blocked_run_are_kept_for_later() -> None:
    async def waits(ctx: Context) -> list[Any]:
        await ctx.step("reserve", lambda: 1)
        nap = asyncio.create_task(ctx.sleep("nap", 50))
        first = await ctx.listen("a", "m")
        second = await ctx.listen("b", "m")
        await nap
        return [first.body, second.body, f"{ctx.now():%M:%S}"]  # type: ignore[union-attr]

    async with deciding() as s:
        run = await started(s, code(waits))
        await deploy(s, code(diverging))
        await run.message("m", 1)
        await s.settle()
        await run.message("m", 2)
        await s.clock.advance(100)
        await blocked(s, run)
        queued = (await run.history()).of("message.queued")
        assert [event["body"] for event in queued] == [1, 2]
        await deploy(s, code(waits))
        assert (await s.result(run))[:2] == [1, 2]
        assert (await run.history()).of("run.unblocked")


async def test_a_blocked_run_goes_on_when_retried_with_code_that_fits() -> None:
    async with deciding() as s:
        run = await started(s)
        await deploy(s, code(diverging))
        await s.clock.advance(200)
        await blocked(s, run)
        await run.retry()
        await blocked(s, run)
        assert len((await run.history()).of("run.blocked")) == 1
        await deploy(s, old)
        await run.retry()
        assert await s.result(run) == "old"
        assert len((await run.history()).of("run.unblocked")) == 1


async def test_a_second_retry_with_code_that_does_not_fit_blocks_as_the_first_would() -> None:
    async def fails(ctx: Context) -> None:
        await ctx.step("fine", lambda: 1)
        await ctx.step("broken", Ledger().fails("broken", CriticalError("broken")))

    async def without(ctx: Context) -> str:
        return await ctx.step("other", lambda: "other")

    async with deciding() as s:
        run = await started(s, code(fails))
        await run.retry()
        await failure(s, run)
        await deploy(s, code(without))
        await run.retry()
        assert "history has step `fine`" in str(await blocked(s, run))


async def test_a_restart_with_code_that_fits_is_enough() -> None:
    async with deciding() as s:
        run = await started(s)
        await deploy(s, code(diverging))
        await s.clock.advance(200)
        await blocked(s, run)
        await deploy(s, old)
        await s.settle()
        assert await run.status() == "completed"


async def test_a_blocked_run_can_be_cancelled(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await started(s)
        await deploy(s, code(diverging))
        await s.clock.advance(200)
        await blocked(s, run)
        await run.cancel("give up")
        await s.settle()
        assert await run.status() == "cancelled"
        assert (await run.row()).blocked is None


async def test_a_deadline_ends_a_blocked_run(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(old, id="o-1", deadline=500)
        await s.settle()
        await deploy(s, code(diverging))
        await s.clock.advance(600)
        assert (await failure(s, run)).code == "DEADLINE_EXCEEDED"


async def test_a_step_that_ends_while_the_run_is_blocked_is_recorded(simulate: Simulate) -> None:
    ledger = Ledger()
    made: list[str] = []

    @dataclass
    class Picky:
        text: str

        def __post_init__(self) -> None:
            made.append(self.text)
            if len(made) > 1:  # the result was checked before it was recorded
                raise KeyError("picky")

    def with_types(type: Any) -> Any:
        async def w(ctx: Context) -> str:
            async def slow() -> str:
                ledger.append("slow")
                await s.clock.sleep(10)
                return "slow"

            task = asyncio.create_task(ctx.step("slow", slow))
            await ctx.step("typed", lambda: {"text": "typed"}, returns=type)
            return await task

        return code(w)

    async with simulate() as s:
        run = await started(s, with_types(Picky))
        await blocked(s, run)
        await s.clock.advance(10)
        closed = [event["at"] for event in (await run.history()).of("op.closed")]
        assert closed == ["typed", "slow"]
        await deploy(s, with_types(dict))
        assert await s.result(run) == "slow"
    assert ledger == ["slow"]


async def test_a_run_without_its_code_says_so_and_goes_on_when_it_is_there(simulate: Simulate) -> None:
    async with simulate([empty]) as s:
        run = await started(s)
        await deploy(s, empty)
        await s.clock.advance(200)
        error = await blocked(s, run)
        assert error.code == "CODE_NOT_LOADED"
        (reason,) = await run.waiting()
        assert "no code `w` here" in reason.text
        await deploy(s, empty, old)
        assert await s.result(run) == "old"


async def test_a_run_keeps_to_its_version_of_several() -> None:
    @workflow(name="v", version="1")
    async def one(ctx: Context) -> str:
        await ctx.step("one", lambda: 1)
        await ctx.sleep("nap", 10)
        return "one"

    @workflow(name="v", version="2")
    async def two(ctx: Context) -> str:
        await ctx.step("two", lambda: 1)
        return "two"

    async with deciding([one, two]) as s:
        first = await s.start(one)
        second = await s.start(two)
        await s.settle()
        await s.crash()
        assert await s.result(first) == "one"
        assert await s.result(second) == "two"
        await deploy(s, two)
        third = await s.start("v@2")
        assert await s.result(third) == "two"


# -- removed ---------------------------------------------------------------------------------------------------------


async def test_removed_stands_for_what_was() -> None:
    async def new(ctx: Context) -> str:
        await ctx.removed("reserve", "step")
        await ctx.sleep("nap", 100)
        return "new"

    async with deciding() as s:
        run = await started(s)
        await deploy(s, code(new))
        assert await s.result(run) == "new"
        assert (await run.history()).of("run.blocked") == []


async def test_removed_writes_nothing_where_nothing_was() -> None:
    async def new(ctx: Context) -> str:
        assert await ctx.removed("reserve", "step") is None
        await ctx.sleep("nap", 1)
        return "new"

    async with deciding() as s:
        run = await s.start(code(new))
        assert await s.result(run) == "new"
        assert [event["at"] for event in (await run.history()).of("op.opened")] == ["nap"]


async def test_removed_of_another_kind_diverges() -> None:
    async def new(ctx: Context) -> str:
        await ctx.removed("reserve", "sleep")
        await ctx.sleep("nap", 100)
        return "new"

    async with deciding() as s:
        run = await started(s)
        await deploy(s, code(new))
        await s.clock.advance(200)
        assert "history has step `reserve`, the code asked for removed sleep `reserve`" in str(await blocked(s, run))


async def test_removed_takes_a_whole_subtree_and_revokes_what_is_open(simulate: Simulate) -> None:
    async def before(ctx: Context) -> str:
        async def branch(c: Context) -> None:
            await c.step("a", lambda: 1)
            await c.loop("l", lambda c: c.sleep("s", 1000))

        await ctx.join("j", x=branch, y=lambda c: c.approve("ok"))
        return "before"

    async def after(ctx: Context) -> str:
        await ctx.removed("j", "join")
        return await ctx.step("b", lambda: "after")

    async with simulate() as s:
        run = await started(s, code(before))
        assert len(await s.engine.approvals.list()) == 1
        await deploy(s, code(after))
        await run.retry()
        assert await s.result(run) == "after"
        assert await s.engine.approvals.list() == []
        statuses = {event["at"]: event.get("status") for event in (await run.history()).of("op.closed")}
        assert statuses["j"] == statuses["j/x/l"] == statuses["j/x/l/~0/s"] == statuses["j/y/ok"] == "cancelled"


async def test_removed_stays_valid_on_every_later_replay() -> None:
    async def new(ctx: Context) -> str:
        await ctx.removed("reserve", "step")
        await ctx.sleep("nap", 100)
        await ctx.step("more", lambda: 1)
        await ctx.sleep("nap 2", 100)
        return "new"

    async with deciding() as s:
        run = await started(s)
        await deploy(s, code(new))
        for _ in range(4):
            await s.clock.advance(45)
            await s.crash()
        assert await s.result(run) == "new"


async def test_a_removed_step_does_not_run_again() -> None:
    ledger = Ledger()

    async def before(ctx: Context) -> str:
        async def slow() -> None:
            ledger.append("run")
            await s.clock.sleep(1000)

        await ctx.step("slow", slow, timeout=None)
        return "before"

    async def after(ctx: Context) -> str:
        await ctx.removed("slow", "step")
        return "after"

    async with deciding() as s:
        run = await started(s, code(before))
        await deploy(s, code(after))
        assert await s.result(run) == "after"
    assert ledger == ["run"]


# -- version ---------------------------------------------------------------------------------------------------------


async def gated(ctx: Context) -> list[Any]:
    found: list[Any] = []
    if await ctx.version("with hold", 2) >= 2:
        found.append(await ctx.step("hold", lambda: "held"))
    found.append(await ctx.step("reserve", lambda: "r"))
    await ctx.sleep("nap", 100)
    return found


async def test_a_run_that_is_past_a_gate_stays_on_the_old_path() -> None:
    async with deciding() as s:
        run = await started(s)
        await deploy(s, code(gated))
        for _ in range(3):
            await s.clock.advance(20)
            await s.crash()
        assert await s.result(run) == ["r"]
        assert (await run.history()).of("run.blocked") == []


async def test_a_new_run_takes_the_new_path_and_it_is_recorded() -> None:
    async with deciding() as s:
        run = await started(s, code(gated))
        await s.crash()
        assert await s.result(run) == ["held", "r"]
        opened = (await run.history()).of("op.opened")
        assert (opened[0]["at"], opened[0]["kind"], opened[0]["value"]) == ("with hold", "version", 2)


async def test_a_run_that_has_not_come_to_the_gate_takes_the_new_path() -> None:
    async def new(ctx: Context) -> list[Any]:
        await ctx.step("reserve", lambda: "r")
        await ctx.sleep("nap", 100)
        return [await ctx.version("after", 3)]

    async with deciding() as s:
        run = await started(s)
        await deploy(s, code(new))
        assert await s.result(run) == [3]


async def test_a_recorded_version_stays_though_the_latest_grows() -> None:
    def latest(number: int) -> Any:
        async def w(ctx: Context) -> list[int]:
            found = [await ctx.version("v", number)]
            await ctx.sleep("nap", 100)
            found.append(await ctx.version("w", number))
            return found

        return code(w)

    async with deciding() as s:
        run = await started(s, latest(1))
        await deploy(s, latest(2))
        await s.clock.advance(50)
        await deploy(s, latest(3))
        assert await s.result(run) == [1, 3]


async def test_a_gate_in_a_branch_looks_at_its_own_branch() -> None:
    def branches(gate: bool) -> Any:
        async def w(ctx: Context) -> Any:
            async def early(c: Context) -> str:
                await c.sleep("nap", 10)
                if gate and await c.version("v", 2) >= 2:
                    return await c.step("new", lambda: "new path")
                return "old path"

            async def late(c: Context) -> str:
                if gate and await c.version("v", 2) >= 2:
                    await c.step("new", lambda: "new path")
                    return "new path"
                await c.step("old", lambda: 1)
                await c.sleep("nap", 10)
                return "old path"

            found = await ctx.join("j", early=early, late=late)
            return [found.early, found.late]

        return code(w)

    async with deciding() as s:
        run = await started(s, branches(gate=False))
        await deploy(s, branches(gate=True))
        assert await s.result(run) == ["new path", "old path"]


async def test_a_gate_in_a_loop_is_asked_in_each_iteration() -> None:
    def looping(gate: bool) -> Any:
        async def w(ctx: Context) -> list[int]:
            async def body(c: Context, found: list[int]) -> Any:
                version = await c.version("v", 2) if gate else 0
                await c.sleep("nap", 10)
                found.append(version)
                return Loop.continue_(found) if len(found) < 4 else Loop.break_(found)

            return await ctx.loop("l", body, state=[], commit_interval=1)

        return code(w)

    async with deciding() as s:
        run = await started(s, looping(gate=False))
        await s.clock.advance(15)
        await deploy(s, looping(gate=True))
        assert await s.result(run) == [0, 1, 2, 2]


async def test_a_gate_that_is_not_needed_any_more_can_be_removed() -> None:
    async def without(ctx: Context) -> list[Any]:
        await ctx.removed("with hold", "version")
        found = [await ctx.step("hold", lambda: "held"), await ctx.step("reserve", lambda: "r")]
        await ctx.sleep("nap", 100)
        return found

    async with deciding() as s:
        run = await started(s, code(gated))
        await deploy(s, code(without))
        assert await s.result(run) == ["held", "r"]


async def test_a_timer_of_asyncio_can_be_removed_as_the_error_says(simulate: Simulate) -> None:
    @workflow(name="w")
    async def before(ctx: Context) -> None:
        await asyncio.sleep(10)
        await ctx.listen("go")

    @code
    async def without(ctx: Context) -> None:
        await ctx.listen("go")

    @code
    async def mended(ctx: Context) -> None:
        await ctx.removed("~timer.0", "timer")
        await ctx.listen("go")

    async with simulate([before]) as s:
        run = await started(s, before)
        await s.clock.advance(20)
        await deploy(s, without)
        await run.message("go")
        assert '`await ctx.removed("~timer.0", "timer")`' in str(await blocked(s, run))
        await deploy(s, mended)
        await s.result(run)


async def test_an_exception_of_new_code_is_named_when_it_does_not_come_to_what_is_recorded(simulate: Simulate) -> None:
    @code
    async def broken(ctx: Context) -> str:
        raise KeyError("colour")

    async with simulate([old]) as s:
        run = await started(s)
        await s.settle()
        await deploy(s, broken)
        await s.clock.advance(200)
        text = str(await blocked(s, run))
        assert "the end of the workflow, by KeyError: 'colour'" in text
        assert "test_versions.py:" in text
