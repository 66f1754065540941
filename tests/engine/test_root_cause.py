"""The root cause of a failed run, as rows, pictures and exceptions tell it."""

from typing import Any, TypedDict

import pytest

from plait import Context, CriticalError, Engine, Loop, goals, step, workflow
from plait.catalog import python_step
from plait.errors import RunFailed
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
