"""The root cause of a failed run, as rows, pictures and exceptions tell it."""

import asyncio
from typing import Any, TypedDict, cast

import pytest

from plait import Context, CriticalError, Engine, Loop, Retry, goals, step, workflow
from plait.catalog import python_step
from plait.errors import ChildFailedError, JoinError, RunFailed
from plait.kernel.cause import cause_of
from plait.kernel.ids import RunId
from plait.kernel.store import RunFilter


@step
async def pay() -> None:
    raise CriticalError("the card was declined")


@step
async def ship(number: int) -> None:
    if number == 1:
        raise CriticalError("no van")


@workflow
async def inner(ctx: Context) -> None:
    await ctx.step("take payment", pay)


@workflow
async def middle(ctx: Context) -> None:
    await ctx.child("pay", inner)


@workflow
async def outer(ctx: Context) -> None:
    await ctx.child("settle", middle)


@workflow
async def parcels(ctx: Context) -> None:
    async def one(c: Context, number: int) -> Any:
        await c.step("ship", ship, number)
        return Loop.continue_(number + 1)

    await ctx.loop("items", one, state=0)


async def failed(engine: Engine, definition: Any, input: Any = None) -> RunFailed:
    handle = await engine.start(definition, input, id="r")
    with pytest.raises(RunFailed) as found:
        await handle.result()
    return found.value


async def test_the_first_line_of_the_exception_names_the_innermost_step():
    async with Engine("memory:", definitions=[outer, middle, inner]) as engine:
        error = await failed(engine, outer)
        assert str(error).startswith("run r failed: take payment failed: the card was declined")


async def test_the_picture_points_to_the_node_and_to_the_child_run():
    async with Engine("memory:", definitions=[outer, middle, inner]) as engine:
        await failed(engine, outer)
        view = await (await engine.get("r")).view()
        assert view.cause is not None
        assert view.cause.node == "settle"
        assert view.cause.run_node == "take payment"
        [found] = await engine.runs(RunFilter(definition="inner"))
        assert found.id == view.cause.run


async def test_children_that_fail_with_their_parent_are_not_listed_as_failures():
    async with Engine("memory:", definitions=[outer, middle, inner]) as engine:
        await failed(engine, outer)
        assert [row.id for row in await engine.runs(RunFilter(status="failed"))] == ["r"]
        assert len(await engine.runs()) == 3
        [row] = await engine.runs(RunFilter(status="failed", parent=RunId("r")))
        assert row.definition == "middle"


async def test_a_child_whose_failure_its_parent_handled_is_a_failure_of_its_own():
    @workflow
    async def calm(ctx: Context) -> str:
        try:
            await ctx.child("pay", inner)
        except Exception:
            return "never mind"
        return "paid"

    async with Engine("memory:", definitions=[calm, inner]) as engine:
        assert await (await engine.start(calm)).result() == "never mind"
        assert [row.definition for row in await engine.runs(RunFilter(status="failed"))] == ["inner"]


async def test_a_step_in_a_loop_is_named_by_its_place_in_words():
    async with Engine("memory:", definitions=[parcels]) as engine:
        error = await failed(engine, parcels)
        assert "items / loop 2 / ship failed: no van" in str(error)
        assert cause_of(error.error).node == "items/~1/ship"


async def test_a_failure_in_a_task_group_is_told_by_its_innermost_step():
    @workflow
    async def side_by_side(ctx: Context) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.child("settle", middle))
            group.create_task(ctx.sleep("cool down", 600))

    async with Engine("memory:", definitions=[side_by_side, middle, inner]) as engine:
        error = await failed(engine, side_by_side)
        assert str(error).startswith("run r failed: take payment failed: the card was declined")
        found = cause_of(error.error)
        assert (found.node, found.run_node) == ("settle", "take payment")


async def test_used_up_attempts_in_a_task_group_are_counted():
    @workflow
    async def grouped(ctx: Context) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.step("look", int, "x", max_attempts=2, retry=Retry(first=0.001)))

    async with Engine("memory:", definitions=[grouped]) as engine:
        assert "look failed after 2 attempts: invalid literal" in str(await failed(engine, grouped))


async def test_a_child_that_failed_in_a_group_in_a_branch_can_be_asked_why():
    async def both(ctx: Context) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.child("settle", middle))

    @workflow
    async def branches(ctx: Context) -> str:
        try:
            await ctx.join("all", {"both": both})
        except JoinError as error:
            [failure] = cast("ExceptionGroup[Exception]", error.errors["both"]).exceptions
            assert isinstance(failure, ChildFailedError)
            return failure.error.message
        return "nothing failed"

    async with Engine("memory:", definitions=[branches, middle, inner]) as engine:
        told = await (await engine.start(branches)).result()
        assert told.endswith("the card was declined")


class Receipt(TypedDict):
    receipt: str


async def test_steps_never_reached_are_skipped_and_the_one_that_failed_is_the_cause():
    @python_step(configure=lambda each: each.no_retries())
    async def charge(amount: int) -> Receipt:
        raise ConnectionError("the bank is closed")

    @python_step
    async def letter(receipt: str) -> None:
        return None

    async with Engine("memory:", definitions=[charge, letter]) as engine:
        assert "charge failed: the bank is closed" in str(await failed(engine, goals("letter"), {"amount": 1}))
        view = await (await engine.get("r")).view()
        status = {node.id: node.status for node in view.nodes}
        assert (status["charge"], status["letter"]) == ("failed", "skipped")
        assert next(node for node in view.nodes if node.id == "letter").skip_reason == "not reached: no receipt"


async def test_a_retry_is_offered_only_where_it_is_not_refused():
    @workflow
    async def undone(ctx: Context) -> None:
        await ctx.step("reserve", lambda: 1, rollback=lambda _: None)
        await ctx.step("take payment", pay)

    async with Engine("memory:", definitions=[undone, inner]) as engine:
        await failed(engine, undone)
        actions = (await (await engine.get("r")).picture()).actions
        assert "fork" in actions
        assert not {"retry", "rewind"} & set(actions)
        plain = await engine.start(inner)
        with pytest.raises(RunFailed):
            await plain.result()
        assert {"retry", "rewind"} <= set((await plain.picture()).actions)
