"""Compensation reaches children: those that ended in their place, those still open first."""

from typing import Any

import pytest

from plait import Context, Retry, Undo, step, workflow
from plait.errors import Conflict
from plait.kernel.limits import Limits
from plait.testing import Sim, SimRun, survives_every_crash

from .conftest import Simulate
from .support import Ledger, failure

ledger = Ledger()
broken: set[str] = set()


@pytest.fixture(autouse=True)
def _clean() -> None:
    ledger.clear()
    broken.clear()


@step
async def reserve(name: str) -> str:
    ledger.append(name)
    return name


@step(retry=Retry(max_attempts=1))
async def release(undo: Undo) -> None:
    ledger.append(f"undo {undo.output}")
    if undo.output in broken:
        raise ConnectionError(f"{undo.output} can't be released")


@workflow
async def leaf(ctx: Context, name: str) -> str:
    return await ctx.step("reserve", reserve, name, rollback=release)


@workflow
async def plain(ctx: Context, name: str) -> str:
    return await ctx.step("reserve", reserve, name)


@workflow
async def waiter(ctx: Context, name: str) -> str:
    await ctx.step("reserve", reserve, name, rollback=release)
    await ctx.listen("never")
    return name


@workflow
async def middle(ctx: Context, name: str) -> str:
    await ctx.child("leaf", leaf, f"{name}.leaf")
    return await ctx.step("own", reserve, f"{name}.own", rollback=release)


@workflow
async def trip(ctx: Context) -> None:
    await ctx.step("flight", reserve, "flight", rollback=release)
    await ctx.child("hotel", middle, "hotel")
    await ctx.step("car", reserve, "car", rollback=release)
    await ctx.listen("go")
    raise ValueError("no visa")


CHILDREN = [leaf, plain, waiter, middle]
IN_ORDER = ["undo car", "undo hotel.own", "undo hotel.leaf", "undo flight"]


def undone() -> list[str]:
    return [entry for entry in ledger if entry.startswith("undo ")]


async def child_of(s: Sim, run: SimRun, node: str) -> SimRun:
    found = next(each for each in (await run.view()).nodes if each.id == node)
    assert found.child is not None
    return SimRun(s, found.child, "default")


@pytest.mark.parametrize("restart", [False, True], ids=["live", "restarted"])
@pytest.mark.parametrize("trigger", ["failure", "cancel", "compensate"])
async def test_finished_children_are_compensated_in_their_place(
    trigger: str, restart: bool, simulate: Simulate
) -> None:
    async with simulate([trip, *CHILDREN]) as s:
        run = await s.start(trip)
        await s.settle()
        if restart:
            await s.crash()
            await s.settle()
        if trigger == "cancel":
            await run.cancel(compensate=True)
        elif trigger == "compensate":
            await run.cancel()
            await s.settle()
            assert undone() == []
            await run.compensate()
        else:
            await run.message("go")
        await s.skip_until(run.ended)
        await s.settle()
        assert undone() == IN_ORDER
        assert await run.status() == ("failed" if trigger == "failure" else "cancelled")
        hotel = await child_of(s, run, "hotel")
        assert await hotel.status() == "completed"
        with pytest.raises(Conflict):
            await run.retry()


async def test_the_compensation_of_children_survives_every_crash() -> None:
    async def go(s: Sim, run: SimRun) -> None:
        await run.message("go", id="go")

    report = await survives_every_crash(trip, None, go, definitions=CHILDREN)
    assert report.status == "failed"
    assert report.crashes > 0


async def test_open_children_are_compensated_when_their_parent_fails(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        async def failing(c: Context) -> None:
            await c.listen("go")
            raise ValueError("no visa")

        await ctx.step("flight", reserve, "flight", rollback=release)
        await ctx.join("both", hotel=lambda c: c.child("hotel", waiter, "hotel"), bad=failing)

    async with simulate([w, *CHILDREN]) as s:
        run = await s.start(w)
        await s.settle()
        await run.cancel(compensate=True)
        await s.skip_until(run.ended)
        await s.settle()
        assert undone() == ["undo hotel", "undo flight"], "what the child did came last"


@pytest.mark.parametrize("compensate", [False, True])
async def test_plain_cancel_compensates_no_child(compensate: bool, simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.child("hotel", waiter, "hotel")

    async with simulate([w, *CHILDREN]) as s:
        run = await s.start(w)
        await s.settle()
        await run.cancel(compensate=compensate)
        await s.settle()
        assert undone() == (["undo hotel"] if compensate else [])
        assert await (await child_of(s, run, "hotel")).status() == "cancelled"


async def test_an_open_child_is_compensated_when_only_it_has_handlers(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        async with ctx.timeout("patience", 60):
            await ctx.child("hotel", waiter, "hotel")

    async with simulate([w, *CHILDREN]) as s:
        run = await s.start(w)
        assert (await failure(s, run)).type == "builtins:TimeoutError"
        await s.settle()
        assert undone() == ["undo hotel"]


async def test_a_child_that_lost_a_race_is_compensated_when_its_parent_fails(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.race("first", hotel=lambda c: c.child("hotel", waiter, "hotel"), go=lambda c: c.listen("go"))
        await ctx.listen("more")
        raise ValueError("no visa")

    async with simulate([w, *CHILDREN]) as s:
        run = await s.start(w)
        await s.settle()
        await run.message("go")
        await s.settle()
        assert undone() == []
        await run.message("more")
        await failure(s, run)
        assert undone() == ["undo hotel"]


async def test_a_parent_whose_children_have_no_handlers_can_be_retried(simulate: Simulate) -> None:
    failing = {"once"}

    @workflow
    async def w(ctx: Context) -> str:
        name = await ctx.child("hotel", plain, "hotel")
        if failing:
            raise ValueError("no visa")
        return name

    async with simulate([w, *CHILDREN]) as s:
        run = await s.start(w)
        await failure(s, run)
        assert "rollback.started" not in [event.type for event in await run.history()]
        failing.clear()
        await run.retry()
        assert await s.result(run) == "hotel"


@pytest.mark.parametrize("how", ["abandon", "start_child"])
async def test_children_that_go_their_own_way_are_not_compensated(how: str, simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        if how == "abandon":
            await ctx.child("hotel", leaf, "hotel", on_parent_close="abandon")
        else:
            await ctx.start_child("hotel", leaf, "hotel")
        await ctx.sleep("a while", 60)
        raise ValueError("no visa")

    async with simulate([w, *CHILDREN]) as s:
        run = await s.start(w)
        await failure(s, run)
        await s.settle()
        assert (ledger[:], undone()) == (["hotel"], [])


async def test_a_child_that_can_not_compensate_stops_its_parent_until_that_is_retried(simulate: Simulate) -> None:
    broken.add("hotel.leaf")
    async with simulate([trip, *CHILDREN]) as s:
        run = await s.start(trip)
        await s.settle()
        await run.message("go")
        await s.skip_until(run.ended)
        assert undone() == IN_ORDER[:3]
        *_, last = [event.data for event in await run.events() if event.type == "rollback.step"]
        assert last["error"]["code"] == "kernel.child_not_compensated"
        broken.clear()
        await run.retry()
        await s.skip_until(run.ended)
        assert undone() == [*IN_ORDER[:3], "undo hotel.leaf", "undo flight"]
        assert await run.status() == "failed"


async def test_a_fork_leaves_the_children_of_its_source_alone(simulate: Simulate) -> None:
    async with simulate([trip, *CHILDREN]) as s:
        run = await s.start(trip)
        await s.settle()
        fork = await run.fork(at="car")
        await s.settle()
        await fork.message("go")
        await s.skip_until(fork.ended)
        assert undone() == ["undo car", "undo flight"]
        assert await run.status() == "running"


async def test_the_picture_shows_the_compensation_of_a_child_beside_it(simulate: Simulate) -> None:
    async with simulate([trip, *CHILDREN]) as s:
        run = await s.start(trip)
        await s.settle()
        await run.cancel(compensate=True)
        await s.skip_until(run.ended)
        view = await run.view()
        hotel = await child_of(s, run, "hotel")
        node: Any = next(node for node in view.nodes if node.label == f"compensation of child run {hotel.id}")
        assert (node.kind, node.status) == ("rollback", "completed")
        assert ("hotel", node.id) in [(edge.source, edge.target) for edge in view.edges]


async def test_a_rollback_does_not_wait_for_a_child_that_a_limit_forbids(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("flight", reserve, "flight", rollback=release)
        await ctx.child("hotel", waiter, "hotel")

    async with simulate([w, *CHILDREN], limits=Limits(max_depth=0)) as s:
        run = await s.start(w)
        await s.skip_until(run.ended)
        assert (await run.status(), undone()) == ("failed", ["undo flight"])
