"""Cancel, deadline, recover, rewind, fork: how a run ends, and how it is taken up again."""

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from plait import Context, CriticalError, Loop, Undo, step, step_info, workflow
from plait.errors import (
    ChildFailedError,
    Conflict,
    InvalidInput,
    JoinError,
    PlaitError,
    RunExistsError,
    RunFailed,
    StepExhaustedError,
)
from plait.testing import SimRun

from .conftest import Simulate
from .decided import deciding
from .support import Ledger, deploy, failure

ledger = Ledger()
broken: set[str] = set()


@pytest.fixture(autouse=True)
def _clean() -> None:
    ledger.clear()
    broken.clear()


def works(name: str) -> Any:
    """A step that fails for as long as its name is in `broken`."""

    async def run() -> str:
        ledger.append(name)
        if name in broken:
            raise CriticalError(f"{name} is broken")
        return name

    return run


# -- cancel ----------------------------------------------------------------------------------------------------------


async def test_a_cancelled_run_stops_at_once_and_for_good(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        async def slow() -> None:
            try:
                await s.clock.sleep(1000)
            except asyncio.CancelledError:
                ledger.append("step stopped")
                raise

        try:
            await asyncio.gather(ctx.step("slow", slow, timeout=None), ctx.sleep("nap", 500), ctx.approve("ok"))
        except asyncio.CancelledError:
            ledger.append("function resumed")

    async with simulate() as s:
        run = await s.start(w)
        await s.settle()
        await run.cancel("changed my mind")
        await s.settle()
        with pytest.raises(RunFailed) as caught:
            await s.result(run)
        assert caught.value.run_status == "cancelled"
        assert "changed my mind" in str(caught.value)
        assert await s.engine.approvals.list() == []
        assert (await run.history()).types()[-1] == "run.cancelled"
        await s.clock.advance(2000)
        await s.crash()
        await run.cancel("again")
        await run.retry()
        assert await run.status() == "cancelled"
        assert (await run.history()).types()[-1] == "run.cancelled"
    assert ledger == ["step stopped"]


async def test_a_cancelled_run_is_not_recovered() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.listen("never")

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        await run.cancel()
        await s.settle()
        before = str(await run.history())
        await run.retry()
        await s.settle()
        assert str(await run.history()) == before


async def test_cancelling_what_has_ended_changes_nothing() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        return "done"

    async with deciding() as s:
        run = await s.start(w)
        await s.result(run)
        await run.cancel()
        await s.settle()
        assert await s.result(run) == "done"


async def test_a_late_result_of_a_cancelled_step_is_recorded_and_changes_nothing() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("thread", lambda: None)
        await ctx.listen("never")

    async with deciding() as s:
        run = await s.start(w)
        await run.cancel()
        await s.settle()
        assert await run.status() == "cancelled"
        (await run.history()).assert_recorded_once()


# -- deadline --------------------------------------------------------------------------------------------------------


async def test_a_run_that_passes_its_deadline_fails(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        assert ctx.deadline == datetime(2030, 1, 1, 0, 0, 30, tzinfo=UTC)
        try:
            await ctx.sleep("nap", 1000)
        except asyncio.CancelledError:
            ledger.append("resumed")

    async with simulate() as s:
        run = await s.start(w, deadline=30)
        await s.clock.advance(10)
        await s.crash()
        info = await failure(s, run)
        assert info.code == "DEADLINE_EXCEEDED"
        assert s.clock.elapsed == 30_000
    assert ledger == []


async def test_a_run_that_ends_in_time_is_not_touched_by_its_deadline(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        await ctx.sleep("nap", 10)
        return "in time"

    async with simulate() as s:
        run = await s.start(w, deadline=30)
        assert await s.result(run) == "in time"
        await s.clock.advance(100)
        assert await s.result(run) == "in time"


# -- recover ---------------------------------------------------------------------------------------------------------


@workflow
async def chain(ctx: Context) -> list[str]:
    found = [await ctx.step(name, works(name)) for name in ("a", "b", "c")]
    await ctx.sleep("nap", 1)
    return found


@pytest.mark.parametrize("restart", [False, True], ids=["live", "restarted"])
async def test_a_failed_run_goes_on_where_it_failed(restart: bool) -> None:
    async with deciding() as s:
        broken.add("b")
        run = await s.start(chain)
        await failure(s, run)
        if restart:
            await s.crash()
        broken.clear()
        await run.retry()
        assert await s.result(run) == ["a", "b", "c"]
        history = await run.history()
        assert history.of("run.recovered") == [{"reset": ["b"]}]
        assert history.of("run.reopened") == [{"cause": "retry"}]
        history.assert_recorded_once()
    assert ledger == ["a", "b", "b", "c"]


async def test_attempts_begin_at_one_again_and_the_dead_letter_is_settled(simulate: Simulate) -> None:
    attempts: list[int] = []

    @workflow
    async def w(ctx: Context) -> int:
        async def flaky() -> int:
            attempts.append(step_info().attempt)
            if len(attempts) < 5:
                raise ConnectionError("away")
            return len(attempts)

        return await ctx.step("flaky", flaky)

    async with simulate() as s:
        run = await s.start(w)
        await failure(s, run)
        assert len(await s.engine.dlq.list()) == 1
        await run.retry()
        assert await s.result(run) == 5
        assert await s.engine.dlq.list() == []
    assert attempts == [1, 2, 3, 1, 2]


async def test_a_dead_letter_can_be_retried_and_takes_its_run_along(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async def flaky() -> str:
            if broken:
                raise ConnectionError("away")
            return "here"

        return await ctx.step("flaky", flaky)

    async with simulate() as s:
        broken.add("x")
        run = await s.start(w)
        await failure(s, run)
        (letter,) = await s.engine.dlq.list()
        broken.clear()
        await s.crash()
        await s.engine.dlq.retry(letter.id)
        assert await s.result(run) == "here"
        assert await s.engine.dlq.list() == []


async def test_a_dead_letter_whose_run_went_on_can_only_be_discarded(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        try:
            await ctx.step("flaky", ledger.fails("x", ConnectionError("away")))
        except StepExhaustedError:
            await ctx.listen("go")
        return "went on"

    async with simulate() as s:
        run = await s.start(w)
        await s.clock.advance(10)
        (letter,) = await s.engine.dlq.list()
        with pytest.raises(Conflict):
            await s.engine.dlq.retry(letter.id)
        await s.engine.dlq.discard(letter.id)
        assert await s.engine.dlq.list() == []
        await run.message("go")
        assert await s.result(run) == "went on"


@pytest.mark.parametrize("ended", ["completed", "running"])
async def test_recovering_a_run_that_has_not_failed_changes_nothing(ended: str) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        await ctx.listen("go")
        return "done"

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        if ended == "completed":
            await run.message("go")
            await s.result(run)
        before = str(await run.history())
        for _ in range(2):
            await run.retry()
            await s.settle()
            await s.crash()
            await s.settle()
        assert str(await run.history()) == before


async def test_failed_branches_are_opened_again_and_the_others_kept() -> None:
    @workflow
    async def w(ctx: Context) -> dict[str, str]:
        found = await ctx.join(
            "j",
            a=lambda c: c.step("s", works("a")),
            b=lambda c: c.step("s", works("b")),
            c=lambda c: c.join("inner", x=lambda c: c.step("s", works("x")), y=lambda c: c.step("s", works("y"))),
        )
        return {"a": found.a, "b": found.b, **found.c}

    async with deciding() as s:
        broken.update({"b", "y"})
        run = await s.start(w)
        await failure(s, run)
        await s.crash()
        broken.clear()
        await run.retry()
        assert await s.result(run) == {"a": "a", "b": "b", "x": "x", "y": "y"}
        (await run.history()).assert_recorded_once()
    assert sorted(ledger) == ["a", "b", "b", "x", "y", "y"]


async def test_a_failed_race_and_a_failed_loop_are_opened_again() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        won = await ctx.race("r", x=lambda c: c.step("s", works("x")), y=lambda c: c.step("s", works("y")))

        async def body(c: Context, n: int) -> Any:
            await c.step("s", works(f"l{n}"))
            return Loop.continue_(n + 1) if n < 3 else Loop.break_(n)

        return [won.winner in ("x", "y"), await ctx.loop("l", body, state=0)]

    async with deciding() as s:
        broken.update({"x", "y", "l2"})
        run = await s.start(w)
        await failure(s, run)
        broken.discard("x")
        await run.retry()
        await failure(s, run)
        await s.crash()
        broken.clear()
        await run.retry()
        assert await s.result(run) == [True, 3]
    assert ledger.count("l0") == ledger.count("l1") == 1
    assert ledger.count("l2") == 2


async def test_what_was_open_when_it_failed_is_started_again() -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        async def slow() -> str:
            ledger.append("slow")
            await s.clock.sleep(20)
            return "slow"

        return await asyncio.gather(
            ctx.step("slow", slow),
            ctx.sleep("nap", 30),
            ctx.step("bad", works("bad")),
            ctx.listen("m", timeout=40),
        )

    async with deciding() as s:
        broken.add("bad")
        run = await s.start(w)
        await failure(s, run)
        await s.clock.advance(5)
        broken.clear()
        await run.retry()
        assert await s.result(run) == ["slow", None, "bad", None]
        assert s.clock.elapsed == 40_000
    assert ledger.count("slow") == 2


async def test_a_failure_of_the_code_itself_goes_on_with_better_code() -> None:
    def code(divisor: int) -> Any:
        @workflow(name="w")
        async def w(ctx: Context) -> float:
            await ctx.step("a", works("a"))
            return 10 / divisor

        return w

    async with deciding() as s:
        run = await s.start(code(0))
        assert (await failure(s, run)).message == "division by zero"
        await deploy(s, code(5))
        await run.retry()
        assert await s.result(run) == 2
    assert ledger == ["a"]


async def test_a_run_that_fails_again_can_be_recovered_again() -> None:
    async with deciding() as s:
        broken.update({"a", "c"})
        run = await s.start(chain)
        await failure(s, run)
        for name in ("a", "c"):
            broken.discard(name)
            await run.retry()
            await s.skip_until(run.ended)
        assert await s.result(run) == ["a", "b", "c"]
        assert len((await run.history()).of("run.recovered")) == 2


async def test_a_failed_child_is_started_anew(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context) -> str:
        return await ctx.step("s", works("child"))

    @workflow
    async def parent(ctx: Context) -> str:
        return await ctx.child("c", child)

    async with simulate([child, parent]) as s:
        broken.add("child")
        run = await s.start(parent)
        info = await failure(s, run)
        assert info.kind == "child"
        broken.clear()
        await run.retry()
        assert await s.result(run) == "child"
        assert len([row for row in await s.engine.runs() if row.parent is not None]) == 2


async def test_a_child_that_was_cancelled_by_its_parents_failure_is_started_anew(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context) -> str:
        await ctx.sleep("nap", 10)
        return "child"

    @workflow
    async def parent(ctx: Context) -> Any:
        return await asyncio.gather(ctx.child("c", child), ctx.step("bad", works("bad")))

    async with simulate([child, parent]) as s:
        broken.add("bad")
        run = await s.start(parent)
        await failure(s, run)
        await s.clock.advance(1)
        broken.clear()
        await run.retry()
        assert await s.result(run) == ["child", "bad"]


async def test_a_failed_child_with_an_id_of_its_own_must_be_retried_itself(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context) -> str:
        return await ctx.step("s", works("child"))

    @workflow
    async def parent(ctx: Context) -> str:
        try:
            return await ctx.child("c", child, id="c-7")
        except RunExistsError as error:
            return str(error)

    async with simulate([child, parent]) as s:
        broken.add("child")
        run = await s.start(parent)
        await failure(s, run)
        broken.clear()
        await run.retry()
        assert "run c-7 has ended, and its id is taken: retry that run itself" in await s.result(run)


async def test_an_abandoned_child_is_still_heard_after_a_recovery(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context) -> str:
        await ctx.sleep("nap", 10)
        return "child"

    @workflow
    async def parent(ctx: Context) -> Any:
        return await asyncio.gather(
            ctx.child("c", child, id="c-7", on_parent_close="abandon"), ctx.step("bad", works("bad"))
        )

    async with simulate([child, parent]) as s:
        broken.add("bad")
        run = await s.start(parent)
        await failure(s, run)
        await s.clock.advance(5)
        broken.clear()
        await run.retry()
        assert await s.result(run) == ["child", "bad"]
        assert s.clock.elapsed == 10_000


async def test_a_run_that_has_undone_its_work_is_not_recovered(simulate: Simulate) -> None:
    async def undo(undo: Undo) -> None:
        ledger.append("undone")

    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("a", works("a"), rollback=undo)
        await ctx.step("b", works("b"))

    async with simulate() as s:
        broken.add("b")
        run = await s.start(w)
        await failure(s, run)
        for call in (run.retry, run.rewind):
            with pytest.raises(Conflict) as caught:
                await call()
            assert caught.value.code == "CODE_ROLLED_BACK"
            assert "fork(at=..., edits=...)" in str(caught.value)
        await s.crash()
        with pytest.raises(Conflict):
            await run.retry()
    assert ledger == ["a", "b", "undone"]


async def test_patching_is_refused(simulate: Simulate) -> None:
    async with simulate() as s:
        handle = await s.engine.start(chain)
        await s.settle()
        with pytest.raises(Conflict) as caught:
            await handle.patch([{"op": "add"}])
        assert caught.value.code == "CODE_PATCH_UNSUPPORTED"
        assert "use fork(at=..., edits=...)" in str(caught.value)


# -- rewind ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restart", [False, True], ids=["live", "restarted"])
async def test_a_run_is_rewound_to_before_an_operation(restart: bool, simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(chain)
        assert await s.result(run) == ["a", "b", "c"]
        if restart:
            await s.crash()
        await run.rewind("b")
        assert await s.result(run) == ["a", "b", "c"]
        history = await run.history()
        assert history.of("run.reopened") == [{"cause": "rewind"}]
        assert history.of("run.rewound")[0]["to"] == "b"
        history.assert_recorded_once()
    assert ledger == ["a", "b", "c", "b", "c"]


async def test_by_default_it_is_rewound_to_its_start(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(chain)
        await s.result(run)
        await run.rewind()
        assert await s.result(run) == ["a", "b", "c"]
    assert ledger == ["a", "b", "c"] * 2


async def test_retry_with_a_place_is_a_rewind(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(chain)
        await s.result(run)
        await run.retry("c")
        assert await s.result(run) == ["a", "b", "c"]
    assert ledger == ["a", "b", "c", "c"]


async def test_only_a_rewind_changes_the_idempotency_key(simulate: Simulate) -> None:
    keys: list[str] = []

    @workflow
    async def w(ctx: Context) -> None:
        async def pay() -> None:
            keys.append(step_info().idempotency_key)
            if "pay" in broken:
                raise CriticalError("no")

        await ctx.step("pay", pay)
        await ctx.sleep("nap", 10)

    async with simulate() as s:
        broken.add("pay")
        run = await s.start(w, id="r")
        await failure(s, run)
        broken.clear()
        await run.retry()
        await s.clock.advance(1)
        await run.rewind("pay")
        await s.settle()
        await run.rewind("pay")
        await s.result(run)
    assert keys == ["r:pay:0", "r:pay:0", "r:pay:1", "r:pay:2"]


async def test_a_running_run_can_be_rewound(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        first = await ctx.step("a", works("a"))
        message = await ctx.listen("m")
        await ctx.sleep("nap", 100)
        return [first, message.body]  # type: ignore[union-attr]

    async with simulate() as s:
        run = await s.start(w)
        await run.message("m", "kept")
        await s.clock.advance(50)
        await run.rewind("a")
        assert await s.result(run) == ["a", "kept"]  # what was sent is not unsent
        assert s.clock.elapsed == 150_000
    assert ledger == ["a", "a"]


async def test_what_is_open_before_the_place_goes_on(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context) -> str:
        await ctx.sleep("nap", 20)
        return "child"

    @workflow
    async def w(ctx: Context) -> list[Any]:
        async def slow() -> str:
            ledger.append("slow")
            await s.clock.sleep(5)
            return "slow"

        tasks = [
            asyncio.create_task(ctx.step("slow", slow)),
            asyncio.create_task(ctx.sleep("nap", 30)),
            asyncio.create_task(ctx.listen("m", timeout=40)),
            asyncio.create_task(ctx.child("c", child)),
        ]
        await asyncio.sleep(0)
        await ctx.step("b", works("b"))
        return await asyncio.gather(*tasks)

    async with simulate([child, w]) as s:
        run = await s.start(w)
        await s.clock.advance(1)
        await run.rewind("b")
        assert await s.result(run) == ["slow", None, None, "child"]
        assert s.clock.elapsed == 40_000
    assert ledger.count("b") == 2


async def test_a_late_result_of_before_a_rewind_changes_nothing(simulate: Simulate) -> None:
    results: list[str] = []

    @workflow
    async def w(ctx: Context) -> str:
        async def slow() -> str:
            results.append("x")
            number = len(results)
            try:
                await s.clock.sleep(10)
            except asyncio.CancelledError:
                return f"late {number}"
            return f"result {number}"

        return await ctx.step("slow", slow)

    async with simulate() as s:
        run = await s.start(w)
        await s.clock.advance(5)
        await run.rewind("slow")
        assert await s.result(run) == "result 2"


@pytest.mark.parametrize("at", ["nobody", "l/~0/s", ""])
async def test_an_unknown_or_trimmed_place_is_refused(at: str, simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        async def body(c: Context, n: int) -> Any:
            await c.step("s", works("s"))
            return Loop.continue_(n + 1) if n < 10 else Loop.break_()

        await ctx.loop("l", body, state=0, history_every=1, history_keep=0)

    async with simulate() as s:
        run = await s.start(w)
        await s.result(run)
        with pytest.raises(Conflict) as caught:
            await run.rewind(at)
        assert caught.value.code == "CODE_REWIND_TARGET"
        assert "trimmed" in str(caught.value)
        assert await run.status() == "completed"


async def test_a_place_in_a_branch_or_an_iteration(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        joined = await ctx.join("j", x=lambda c: c.step("s", works("x")), y=lambda c: c.step("s", works("y")))

        async def body(c: Context, n: int) -> Any:
            await c.step("s", works(f"l{n}"))
            return Loop.continue_(n + 1) if n < 3 else Loop.break_(n)

        return [joined.x, joined.y, await ctx.loop("l", body, state=0)]

    async with simulate() as s:
        run = await s.start(w)
        await s.result(run)
        ledger.clear()
        await run.rewind("l/~2/s")
        assert await s.result(run) == ["x", "y", 3]
        assert ledger == ["l2", "l3"]
        ledger.clear()
        await run.rewind("j/y/s")
        assert await s.result(run) == ["x", "y", 3]
        assert set(ledger) == {"x", "y", "l0", "l1", "l2", "l3"} or set(ledger) == {"y", "l0", "l1", "l2", "l3"}


async def test_a_rewind_after_a_recovery_finds_the_right_place(simulate: Simulate) -> None:
    async with simulate() as s:
        broken.add("b")
        run = await s.start(chain)
        await failure(s, run)
        broken.clear()
        await run.retry()
        await s.settle()
        await run.rewind("c")
        assert await s.result(run) == ["a", "b", "c"]
        live = (await run.history()).of("run.rewound")[0]["state"]["seq"]
        events = await run.events()
        place = next(event.seq for event in events if event.type == "op.opened" and event.data["at"] == "c")
        assert live == place - 1
    assert ledger == ["a", "b", "b", "c", "c"]


async def test_a_cancelled_run_can_be_rewound(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(chain)
        await s.settle()
        await run.cancel()
        await s.settle()
        await run.rewind("b")
        assert await s.result(run) == ["a", "b", "c"]


# -- fork ------------------------------------------------------------------------------------------------------------


async def test_a_fork_has_the_same_past_and_a_future_of_its_own(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        first = await ctx.step("a", works("a"))
        number = ctx.random().random()
        second = await ctx.step("b", works("b"))
        return [first, second, number]

    async with simulate() as s:
        run = await s.start(w, id="source")
        original = await s.result(run)
        ledger.clear()
        fork = await run.fork(at="b")
        assert fork.id != run.id
        assert await s.result(fork) == original  # the same seed
        assert ledger == ["b"]
        assert await s.result(run) == original
        forked = (await fork.history()).of("run.forked")[0]
        assert (forked["source"], forked["upto"]) == ("source", (await fork.history()).types().index("run.forked"))


async def test_a_fork_may_have_other_results(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(chain)
        await s.result(run)
        ledger.clear()
        fork = await run.fork(at="c", edits={"a": "edited"})
        assert await s.result(fork) == ["edited", "b", "c"]
        await s.crash()
        assert await s.result(fork) == ["edited", "b", "c"]
    assert ledger == ["c"]


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
async def test_a_fork_of_an_ended_run_without_a_place_is_made_just_before_its_end(
    status: str, simulate: Simulate
) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        found = await ctx.step("a", works("a"))
        await ctx.listen("go", timeout=10)
        if status == "failed" and found == "a":
            raise ValueError("no")
        return found

    async with simulate() as s:
        run = await s.start(w)
        await s.settle()
        if status == "cancelled":
            await run.cancel()
        await s.skip_until(run.ended)
        assert await run.status() == status
        fork = await run.fork(edits={"a": "edited"})
        assert await s.result(fork) == "edited"
    assert ledger == ["a"]


async def test_the_result_of_a_failed_step_may_be_edited(simulate: Simulate) -> None:
    async with simulate() as s:
        broken.add("b")
        run = await s.start(chain)
        await failure(s, run)
        fork = await run.fork(edits={"b": "by hand"})
        assert await s.result(fork) == ["a", "by hand", "c"]
    assert ledger == ["a", "b", "c"]


async def test_a_fork_of_a_run_that_undid_its_work_starts_before_that(simulate: Simulate) -> None:
    async def undo(undo: Undo) -> None:
        ledger.append("undone")

    @workflow
    async def w(ctx: Context) -> str:
        await ctx.step("a", works("a"), rollback=undo)
        return await ctx.step("b", works("b"))

    async with simulate() as s:
        broken.add("b")
        run = await s.start(w)
        await failure(s, run)
        fork = await run.fork(edits={"b": "by hand"})
        assert await s.result(fork) == "by hand"
        assert (await fork.history()).of("rollback.started") == []
    assert ledger == ["a", "b", "undone"]


async def test_an_edit_is_checked_against_its_type(simulate: Simulate) -> None:
    @step
    async def price() -> Decimal:
        return Decimal("1.5")

    @workflow
    async def w(ctx: Context) -> list[str]:
        named = await ctx.step("named", price)
        plain = await ctx.step("plain", lambda: 5, returns=int)
        await ctx.sleep("nap", 1)
        return [str(named), str(plain)]

    async with simulate() as s:
        run = await s.start(w)
        await s.result(run)
        for edits in ({"named": "cheap"}, {"plain": "five"}):
            with pytest.raises(InvalidInput) as caught:
                await run.fork(edits=edits)
            assert caught.value.code == "kernel.bad_edit"
            assert next(iter(edits)) in str(caught.value)
        fork = await run.fork(edits={"named": "2.50", "plain": 6})
        assert await s.result(fork) == ["2.50", "6"]


@pytest.mark.parametrize("path", ["nobody", "nap", "j", "open"])
async def test_only_results_can_be_edited(path: str, simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.sleep("nap", 0)
        await ctx.join("j", x=lambda c: c.sleep("s", 0))
        await ctx.listen("open")

    async with simulate() as s:
        run = await s.start(w)
        await s.settle()
        with pytest.raises(InvalidInput) as caught:
            await run.fork(edits={path: 1})
        assert caught.value.code == "kernel.bad_edit"


async def test_an_edit_that_can_not_be_stored_is_refused(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(chain)
        await s.result(run)
        with pytest.raises(PlaitError):
            await run.fork(edits={"a": object()})


@pytest.mark.parametrize("at", [0, -1, 10_000])
async def test_a_fork_needs_an_event_that_is_there(at: int, simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(chain)
        await s.result(run)
        with pytest.raises(InvalidInput) as caught:
            await run.fork(at=at)
        assert caught.value.code == "kernel.bad_fork"


async def test_a_fork_in_the_middle_of_a_decision(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        return await asyncio.gather(*(ctx.step(f"s{n}", works(f"s{n}")) for n in range(4)))

    async with simulate() as s:
        run = await s.start(w)
        await s.result(run)
        opened = [event.seq for event in await run.events() if event.type == "op.opened"]
        ledger.clear()
        fork = await run.fork(at=opened[1])
        assert await s.result(fork) == ["s0", "s1", "s2", "s3"]
    assert sorted(ledger) == ["s0", "s1", "s2", "s3"]


async def test_messages_stay_behind_and_open_operations_start_anew(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context) -> str:
        await ctx.listen("go", timeout=20)
        return ctx.run_id

    @workflow
    async def w(ctx: Context) -> list[Any]:
        found = await asyncio.gather(
            ctx.child("c", child), ctx.sleep("nap", 30), ctx.listen("m", timeout=40), ctx.approve("ok", timeout=50)
        )
        return [found[0], found[2], found[3].decision]

    async with simulate([child, w]) as s:
        run = await s.start(w)
        await run.message("other", 1)
        await s.clock.advance(5)
        fork = await run.fork()
        await s.settle()
        assert len(await s.engine.approvals.list()) == 2
        assert len([row for row in await s.engine.runs() if row.parent is not None]) == 2
        first, second = await s.result(run), await s.result(fork)
        assert first[0] != second[0]
        assert first[1:] == second[1:] == [None, "timeout"]
        assert s.clock.elapsed == 50_000
        assert [event["name"] for event in (await fork.history()).of("message.queued")] in ([], ["other"])


async def test_cancelling_a_fork_leaves_the_children_of_its_source_alone(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context) -> str:
        await ctx.listen("go")
        return "child"

    @workflow
    async def w(ctx: Context) -> str:
        return await ctx.child("c", child)

    async with simulate([child, w]) as s:
        run = await s.start(w)
        await s.settle()
        (source_child,) = [row for row in await s.engine.runs() if row.parent is not None]
        fork = await run.fork()
        await s.settle()
        await fork.cancel()
        await s.settle()
        assert await fork.status() == "cancelled"
        handle = await s.engine.get(source_child.id)
        assert await handle.status() == "running"
        others = [row for row in await s.engine.runs() if row.parent is not None and row.id != source_child.id]
        assert [row.status for row in others] == ["cancelled"]
        await handle.message("go")
        assert await s.result(run) == "child"


async def test_a_message_may_be_sent_to_a_fork(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        message = await ctx.listen("m")
        return message.body  # type: ignore[union-attr]

    async with simulate() as s:
        run = await s.start(w)
        await s.settle()
        fork: SimRun = await run.fork()
        await fork.message("m", "to the fork")
        assert await s.result(fork) == "to the fork"
        assert await run.status() == "running"


async def test_a_fork_of_a_fork(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(chain)
        await s.result(run)
        first = await run.fork(at="b", edits={"a": "1"})
        await s.skip_until(first.ended)
        second = await first.fork(at="c", edits={"b": "2"})
        await s.skip_until(second.ended)
        output = (await second.history()).events[-1].data["output"]
        assert output == ["1", "2", "c"]


async def test_a_join_error_keeps_the_causes_for_a_retry() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        try:
            await ctx.join("j", x=lambda c: c.step("s", works("x")))
        except JoinError as error:
            raise ValueError("wrapped") from error
        return "done"

    async with deciding() as s:
        broken.add("x")
        run = await s.start(w)
        assert (await failure(s, run)).message == "wrapped"
        broken.clear()
        await run.retry()
        assert await s.result(run) == "done"


async def test_a_failure_that_was_handled_stays_handled_on_a_retry() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        try:
            await ctx.step("handled", works("handled"))
        except CriticalError:
            ledger.append("handled it")
        return await ctx.step("other", works("other"))

    async with deciding() as s:
        broken.update({"handled", "other"})
        run = await s.start(w)
        await failure(s, run)
        broken.clear()
        await run.retry()
        assert await s.result(run) == "other"
    assert ledger.count("handled") == 1


async def test_a_child_failure_can_be_inspected(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context) -> None:
        await ctx.step("s", works("child"))

    @workflow
    async def parent(ctx: Context) -> None:
        await ctx.child("c", child, id="c-1")

    async with simulate([child, parent]) as s:
        broken.add("child")
        run = await s.start(parent)
        with pytest.raises(RunFailed) as caught:
            await s.result(run)
        cause = caught.value.__cause__
        assert isinstance(cause, ChildFailedError)
        assert cause.run_id == "c-1"
        assert "child is broken" in str(cause)


async def test_a_failed_run_keeps_parts_notes_and_cause_of_its_exception(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        try:
            await ctx.step("s", lambda: 1 / 0, max_attempts=1)
        except Exception as error:
            group = ExceptionGroup("both", [ValueError("first"), KeyError("second")])
            group.add_note("of order 7")
            raise group from error

    async with simulate([w]) as s:
        info = await failure(s, await s.start(w))
        assert [part.message for part in info.parts.values()] == ["first", "'second'"]
        assert info.notes == ["of order 7"]
        assert info.cause is not None
        assert "division by zero" in info.cause.message
