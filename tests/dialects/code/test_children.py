"""Children, messages between runs, and people."""

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from plait import Context, CriticalError, Limits, RollbackError, workflow
from plait.errors import (
    ChildFailedError,
    NotFound,
    PlaitError,
    RunExistsError,
)
from plait.testing import Sim

from .conftest import Simulate
from .support import Ledger, deploy, failure


@dataclass
class Risk:
    score: int


@workflow
async def risk(ctx: Context, amount: int) -> Risk:
    await ctx.sleep("think", 10)
    return Risk(amount * 2)


@workflow
async def fails(ctx: Context) -> None:
    await ctx.sleep("think", 1)
    raise ValueError("bad child")


@workflow
async def waits(ctx: Context, given: Any = None) -> Any:
    message = await ctx.listen("go")
    return message.body if message else None


async def children(s: Sim) -> dict[str, str]:
    return {row.id: row.status for row in await s.engine.runs() if row.parent is not None}


# -- results ---------------------------------------------------------------------------------------------------------


async def test_a_child_gives_its_output_as_its_type(simulate: Simulate) -> None:
    seen: list[Any] = []

    @workflow
    async def parent(ctx: Context) -> list[Any]:
        first = await ctx.child("typed", risk, 5)
        second = await ctx.child("by name", "risk", {"amount": 1}["amount"])
        third = await ctx.child("asked", "risk", 3, returns=Risk)
        seen.append([first, second, third])
        return [first.score, second, third.score]

    async with simulate([risk, parent]) as s:
        run = await s.start(parent)
        await s.clock.advance(5)
        await s.crash()
        assert await s.result(run) == [10, {"score": 2}, 6]
    assert isinstance(seen[-1][0], Risk)
    assert isinstance(seen[-1][2], Risk)


async def test_a_failed_child_raises_child_failed(simulate: Simulate) -> None:
    seen: list[Any] = []

    @workflow
    async def parent(ctx: Context) -> None:
        try:
            await ctx.child("c", fails, id="c-1")
        except ChildFailedError as error:
            seen.append([error.run_id, error.status, error.error.message, str(error)])
        await ctx.sleep("nap", 1)

    async with simulate([fails, parent]) as s:
        run = await s.start(parent)
        await s.clock.advance(1)
        await s.crash()
        await s.result(run)
    assert seen[0] == seen[-1] == ["c-1", "failed", "bad child", "child run `c-1` failed: bad child"]


async def test_a_cancelled_child_raises_child_failed(simulate: Simulate) -> None:
    @workflow
    async def parent(ctx: Context) -> list[str]:
        try:
            await ctx.child("c", waits, id="c-1")
        except ChildFailedError as error:
            return [error.status, error.error.message]
        return []

    async with simulate([waits, parent]) as s:
        run = await s.start(parent)
        await s.settle()
        await (await s.engine.get("c-1")).cancel("not today")
        assert await s.result(run) == ["cancelled", "not today"]


async def test_children_have_children(simulate: Simulate) -> None:
    @workflow
    async def tree(ctx: Context, depth: int) -> int:
        if depth == 0:
            await ctx.sleep("leaf", 1)
            return 1
        found = await ctx.join(
            "both", a=lambda c: c.child("x", tree, depth - 1), b=lambda c: c.child("x", tree, depth - 1)
        )
        return found.a + found.b + 1

    async with simulate([tree]) as s:
        run = await s.start(tree, 3)
        await s.settle()
        await s.crash()
        assert await s.result(run) == 15
        assert len(await s.engine.runs()) == 15
        assert max(row.depth for row in await s.engine.runs()) == 3


async def test_many_children_at_once(simulate: Simulate) -> None:
    @workflow
    async def parent(ctx: Context) -> int:
        found = await asyncio.gather(*(ctx.child(f"c{n}", risk, n) for n in range(50)))
        return sum(item.score for item in found)

    async with simulate([risk, parent]) as s:
        assert await s.run(parent) == 2 * sum(range(50))


# -- ids -------------------------------------------------------------------------------------------------------------


async def test_the_default_id_comes_from_parent_and_place(simulate: Simulate) -> None:
    @workflow
    async def parent(ctx: Context) -> None:
        await asyncio.gather(ctx.child("a", waits), ctx.child("b", waits))

    ids: list[set[str]] = []
    for _ in range(2):
        async with simulate([waits, parent]) as s:
            await s.start(parent, id="p")
            await s.settle()
            ids.append(set(await children(s)))
    assert ids[0] == ids[1]
    assert len(ids[0]) == 2
    assert all(UUID(found).version == 5 for found in ids[0])


async def test_a_child_may_have_an_id_of_its_own(simulate: Simulate) -> None:
    @workflow
    async def parent(ctx: Context) -> Any:
        return await ctx.child("c", waits, id="c-7")

    async with simulate([waits, parent]) as s:
        run = await s.start(parent)
        await s.settle()
        assert [reason.text for reason in await run.waiting()] == ["child `c-7` (`c`)"]
        await (await s.engine.get("c-7")).message("go", 5)
        assert await s.result(run) == 5


async def test_an_id_that_is_taken_is_refused(simulate: Simulate) -> None:
    @workflow
    async def parent(ctx: Context) -> str:
        try:
            await ctx.child("c", waits, id="taken")
        except RunExistsError as error:
            await ctx.sleep("nap", 1)
            return str(error)
        return ""

    async with simulate([waits, parent]) as s:
        await s.start(waits, id="taken")
        run = await s.start(parent)
        await s.settle()
        await s.crash()
        assert "taken" in await s.result(run)
        assert await (await s.engine.get("taken")).status() == "running"


async def test_a_child_lives_in_the_namespace_of_its_parent(simulate: Simulate) -> None:
    @workflow
    async def parent(ctx: Context) -> list[Any]:
        return [await ctx.child("c", names, id="c"), ctx.namespace]

    @workflow
    async def names(ctx: Context) -> list[str]:
        return [ctx.run_id, ctx.namespace]

    async with simulate([names, parent]) as s:
        assert await s.run(parent, id="p", namespace="eu") == [["c", "eu"], "eu"]
        with pytest.raises(NotFound):
            await s.engine.get("c")


async def test_a_child_has_labels_and_a_deadline(simulate: Simulate) -> None:
    @workflow
    async def child(ctx: Context) -> None:
        assert ctx.labels == {"kind": "test"}
        assert ctx.deadline is not None
        await ctx.sleep("long", 1000)

    @workflow
    async def parent(ctx: Context) -> list[str]:
        await ctx.sleep("nap", 5)
        try:
            await ctx.child("c", child, deadline=20, labels={"kind": "test"})
        except ChildFailedError as error:
            return [error.status, error.error.code, f"{ctx.now():%S}"]
        return []

    async with simulate([child, parent]) as s:
        assert await s.run(parent) == ["failed", "DEADLINE_EXCEEDED", "25"]


# -- what can't start ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("definition", "input", "code"),
    [
        ("nobody", None, "CODE_NOT_LOADED"),
        (5, None, "CODE_NOT_LOADED"),
        (risk, "many", "CODE_INPUT_INVALID"),
        (risk, object(), "CODE_NOT_ENCODABLE"),
    ],
)
async def test_a_child_that_can_not_start_fails_at_once_every_time(
    definition: Any, input: Any, code: str, simulate: Simulate
) -> None:
    @workflow
    async def parent(ctx: Context) -> list[str]:
        codes: list[str] = []
        for name in ("first", "second"):
            try:
                await ctx.child(name, definition, input)
            except PlaitError as error:
                codes.append(error.code)
        return codes

    async with simulate([parent]) as s:
        assert await s.run(parent) == [code, code]
        assert len(await s.engine.runs()) == 1


async def test_depth_is_limited(simulate: Simulate) -> None:
    @workflow
    async def deep(ctx: Context, n: int) -> int:
        return await ctx.child("c", deep, n + 1) + 1

    async with simulate([deep], limits=Limits(max_depth=3)) as s:
        info = await failure(s, await s.start(deep, 0))
        assert len(await s.engine.runs()) <= 5
        assert "levels of children; the limit is 3" in info.message


async def test_a_finished_child_is_not_looked_up_again(simulate: Simulate) -> None:
    """A deploy may drop a definition that a parent has used."""
    from .support import deploy

    @workflow
    async def parent(ctx: Context) -> Any:
        first = await ctx.child("c", "risk", 1)
        await ctx.sleep("nap", 100)
        return first

    async with simulate([risk, parent]) as s:
        run = await s.start(parent)
        await s.clock.advance(20)
        await deploy(s, parent)
        assert await s.result(run) == {"score": 2}


# -- the end of the parent -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["fails", "is cancelled", "passes its deadline", "loses a race", "times out"])
async def test_open_children_are_cancelled_with_their_parent(how: str, simulate: Simulate) -> None:
    @workflow
    async def middle(ctx: Context) -> Any:
        return await ctx.child("c", waits, id="grandchild")

    @workflow
    async def parent(ctx: Context) -> Any:
        if how == "fails":
            await asyncio.gather(ctx.child("c", middle, id="child"), ctx.step("s", _boom, max_attempts=1))
        elif how == "loses a race":
            await ctx.race("r", c=lambda c: c.child("c", middle, id="child"), t=lambda c: c.sleep("s", 5))
        elif how == "times out":
            try:
                async with ctx.timeout("limit", 5):
                    await ctx.child("c", middle, id="child")
            except TimeoutError:
                pass
        else:
            await ctx.child("c", middle, id="child")

    async def _boom() -> None:
        await s.clock.sleep(1)
        raise ValueError("boom")

    async with simulate([waits, middle, parent]) as s:
        run = await s.start(parent, deadline=20 if how == "passes its deadline" else None)
        await s.settle()
        assert set(await children(s)) == {"child", "grandchild"}
        if how == "is cancelled":
            await run.cancel()
        await s.clock.advance(30)
        assert await run.status() != "running"
        assert await children(s) == {"child": "cancelled", "grandchild": "cancelled"}


async def test_abandoned_children_go_on(simulate: Simulate) -> None:
    @workflow
    async def parent(ctx: Context) -> None:
        await ctx.child("c", waits, id="child", on_parent_close="abandon")

    async with simulate([waits, parent]) as s:
        run = await s.start(parent)
        await s.settle()
        await run.cancel()
        await s.settle()
        assert await run.status() == "cancelled"
        child = await s.engine.get("child")
        assert await child.status() == "running"
        await child.message("go", 1)
        assert await s.result(child) == 1
        assert await run.status() == "cancelled"


async def test_an_abandoned_child_that_ends_after_its_parent_is_recorded_and_changes_nothing(
    simulate: Simulate,
) -> None:
    @workflow
    async def parent(ctx: Context) -> None:
        await ctx.child("c", waits, id="child", on_parent_close="abandon")

    async with simulate([waits, parent]) as s:
        run = await s.start(parent)
        await s.settle()
        await run.cancel()
        await s.settle()
        before = (await run.history()).types()
        await (await s.engine.get("child")).message("go")
        await s.settle()
        assert (await run.history()).types() == [*before, "op.closed"]
        assert await run.status() == "cancelled"


async def test_an_abandoned_child_that_ended_while_its_parent_was_failed_is_heard_after_a_retry(
    simulate: Simulate,
) -> None:
    broken = True

    async def unlucky() -> None:
        if broken:
            raise CriticalError("not yet")

    @workflow
    async def parent(ctx: Context) -> int:
        child = asyncio.ensure_future(ctx.child("c", waits, id="child", on_parent_close="abandon"))
        await ctx.step("s", unlucky)
        return await child

    async with simulate([waits, parent]) as s:
        run = await s.start(parent)
        assert (await failure(s, run)).message == "not yet"
        child = await s.engine.get("child")
        await child.message("go", 7)
        assert await s.result(child) == 7
        await s.settle()
        broken = False
        await run.retry()
        assert await s.result(run) == 7


async def test_a_child_survives_the_crash_of_its_parent_and_reports(simulate: Simulate) -> None:
    @workflow
    async def parent(ctx: Context) -> Any:
        return await ctx.child("c", risk, 4)

    async with simulate([risk, parent]) as s:
        run = await s.start(parent)
        for _ in range(4):
            await s.clock.advance(2)
            await s.crash()
        assert await s.result(run) == {"score": 8}


async def test_a_parent_that_rolls_back_cancels_its_children_first(simulate: Simulate) -> None:
    ledger = Ledger()

    @workflow
    async def parent(ctx: Context) -> None:
        await ctx.step("reserve", ledger.does("reserve"), rollback=ledger.undoes("release"))
        task = asyncio.create_task(ctx.child("c", waits, id="child"))
        await ctx.sleep("nap", 1)
        del task
        raise RollbackError("no")

    async with simulate([waits, parent]) as s:
        await failure(s, await s.start(parent))
        assert await children(s) == {"child": "cancelled"}
    assert ledger == ["reserve", "release"]


# -- send ------------------------------------------------------------------------------------------------------------


async def test_a_run_sends_a_message_to_another_once(simulate: Simulate) -> None:
    @workflow
    async def collects(ctx: Context) -> list[Any]:
        found: list[Any] = []
        while (message := await ctx.listen(f"m{len(found)}", "hello", timeout=100)) is not None:
            found.append([message.body, message.id])
        return found

    @workflow
    async def sends(ctx: Context) -> str:
        await ctx.send("first", "target", "hello", {"n": 1})
        await ctx.sleep("nap", 1)
        await ctx.send("second", "target", "hello", {"n": 2})
        await ctx.sleep("nap 2", 1)
        return "sent"

    async with simulate([collects, sends]) as s:
        target = await s.start(collects, id="target")
        sender = await s.start(sends, id="sender")
        for _ in range(3):
            await s.clock.advance(0.5)
            await s.crash()
        assert await s.result(sender) == "sent"
        assert await s.result(target) == [[{"n": 1}, "sender:first"], [{"n": 2}, "sender:second"]]


async def test_a_message_to_nobody_is_a_dead_letter(simulate: Simulate) -> None:
    @workflow
    async def ended(ctx: Context) -> None: ...

    @workflow
    async def sends(ctx: Context) -> str:
        await ctx.send("unknown", "nobody", "hello")
        await ctx.send("ended", "over", "hello")
        return "went on"

    async with simulate([ended, sends]) as s:
        await s.run(ended, id="over")
        assert await s.run(sends, id="sender") == "went on"
        letters = await s.engine.dlq.list()
        assert [(letter.run_id, letter.label) for letter in letters] == [("sender", "message hello")] * 2
        assert all("unknown or has ended" in letter.error.message for letter in letters)
        for letter in letters:
            await s.engine.dlq.discard(letter.id)
        assert await s.engine.dlq.list() == []


# -- started, and not waited for ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["completes", "fails", "is cancelled"])
async def test_a_child_that_nobody_waits_for_outlives_its_parent(simulate: Simulate, end: str) -> None:
    @workflow
    async def parent(ctx: Context) -> str:
        child = await ctx.start_child("start", waits, 1, labels={"team": "tea"})
        if end == "fails":
            raise ValueError("no")
        if end == "is cancelled":
            await ctx.listen("never")
        return child

    async with simulate([parent, waits]) as s:
        run = await s.start(parent, id="parent")
        await s.settle()
        if end == "is cancelled":
            await run.cancel()
        await s.skip_until(run.ended)
        [(child, status)] = (await children(s)).items()
        assert status == "running"
        handle = await s.engine.get(child)
        assert (await handle.row()).labels == {"team": "tea"}
        await handle.message("go", "late")
        assert await handle.result() == "late"
        if end == "completes":
            assert await s.result(run) == child
        assert [event.type for event in (await run.history()).events][-1].startswith("run.")


async def test_a_child_with_an_id_of_its_own_is_started_once(simulate: Simulate) -> None:
    @workflow
    async def parent(ctx: Context) -> str:
        child = await ctx.start_child("start", waits, id="mine")
        await ctx.sleep("a while", 60)
        return child

    async with simulate([parent, waits]) as s:
        run = await s.start(parent)
        await s.settle()
        await s.crash()
        assert await s.result(run) == "mine"
        assert await children(s) == {"mine": "running"}


@pytest.mark.parametrize(
    ("definition", "id", "error"),
    [("nobody", None, "no workflow `nobody`"), ("waits", "taken", "run taken")],
)
async def test_a_child_that_cannot_be_started_says_so_every_time(
    simulate: Simulate, definition: str, id: str | None, error: str
) -> None:
    @workflow
    async def parent(ctx: Context) -> str:
        return await ctx.start_child("start", definition, id=id)

    async with simulate([parent, waits]) as s:
        await s.start(waits, id="taken")
        run = await s.start(parent, id="parent")
        for _ in range(2):
            assert error in (await failure(s, run)).message
            await run.retry()


async def test_a_failed_child_that_outlives_its_parent_starts_anew_after_a_retry(simulate: Simulate) -> None:
    fixed: list[bool] = []

    @workflow
    async def flaky(ctx: Context) -> str:
        if not await ctx.step("look", lambda: bool(fixed)):
            raise ValueError("not yet")
        return "done"

    @workflow
    async def parent(ctx: Context) -> str:
        return await ctx.child("flaky", flaky, on_parent_close="abandon")

    async with simulate([parent, flaky]) as s:
        run = await s.start(parent)
        assert "not yet" in (await failure(s, run)).message
        fixed.append(True)
        await run.retry()
        assert await s.result(run) == "done"


async def test_code_that_now_waits_for_such_a_child_is_told_apart(simulate: Simulate) -> None:
    @workflow(name="parent")
    async def before(ctx: Context) -> None:
        await ctx.start_child("start", waits)
        await ctx.listen("go")

    @workflow(name="parent")
    async def after(ctx: Context) -> None:
        await ctx.child("start", waits)
        await ctx.listen("go")

    async with simulate([before, waits]) as s:
        run = await s.start(before)
        await s.settle()
        await deploy(s, after, waits)
        await run.message("go")
        await s.settle()
        blocked = (await run.row()).blocked
        assert blocked is not None
        assert "child `start` whose end nobody waits for" in blocked.message
