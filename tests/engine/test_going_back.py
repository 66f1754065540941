"""Forks, rewinds, retries and compensation, through the engine."""

import asyncio
from typing import Any

import pytest

from plait import Context, Limits, Undo, workflow
from plait.errors import Conflict, InvalidInput, RunFailed
from plait.kernel.events import Recorded
from tests.engine.flows import echo
from tests.engine.places import Place, soon

BIG = "x" * 5_000


class World:
    """What steps did outside."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.broken = False

    async def do(self, what: str) -> str:
        if self.broken:
            raise ConnectionError("the world is broken")
        self.done.append(what)
        return what + BIG

    def flow(self) -> Any:
        @workflow
        async def three(ctx: Context) -> list[str]:
            found = [await ctx.step(name, lambda name=name: self.do(name)) for name in ("a", "b", "c")]
            return [text.removesuffix(BIG) for text in found]

        return three


SMALL_BLOBS = Limits(blob_threshold=1_000)


def numbers(events: list[Recorded], type: str) -> list[int]:
    return [event.seq for event in events if event.type == type]


async def test_a_fork_at_every_event_ends_alike(place: Place):
    """Also in the middle of a decision, whose large values are blobs."""
    world = World()
    flow = world.flow()
    async with place.engine(flow, limits=SMALL_BLOBS, code_cache=0) as engine:
        run = await engine.start(flow)
        assert await run.result() == ["a", "b", "c"]
        events = await run.events()
        for upto in range(1, len(events)):
            forked = await run.fork(at=upto, id=f"fork-{upto}")
            assert await forked.result() == ["a", "b", "c"]
            copied = [event for event in await forked.events() if event.seq <= upto]
            assert copied == events[:upto]


async def test_a_fork_does_again_only_what_was_not_done_at_its_place(place: Place):
    world = World()
    flow = world.flow()
    async with place.engine(flow) as engine:
        run = await engine.start(flow)
        await run.result()
        world.done.clear()
        await (await run.fork(at="b")).result()
        assert world.done == ["b", "c"]


async def test_a_fork_may_change_what_steps_gave(place: Place):
    world = World()
    flow = world.flow()
    async with place.engine(flow) as engine:
        run = await engine.start(flow)
        await run.result()
        forked = await run.fork(at="c", edits={"a": "A"})
        assert await forked.result() == ["A", "b", "c"]
        assert await run.result() == ["a", "b", "c"]


@pytest.mark.parametrize("at", [0, -1, 10_000, "nothing"])
async def test_a_fork_at_a_place_that_is_not_there_is_refused(place: Place, at: Any):
    async with place.engine() as engine:
        run = await engine.start(echo, 1)
        await run.result()
        with pytest.raises((InvalidInput, Conflict)):
            await run.fork(at=at)


async def test_a_fork_of_an_ended_run_at_its_end_does_not_hang(place: Place):
    async with place.engine() as engine:
        run = await engine.start(echo, 1)
        await run.result()
        try:
            forked = await run.fork()
        except InvalidInput:
            return  # it says that the run had ended there
        async with asyncio.timeout(5):
            assert await forked.result() == 1


async def test_a_fork_with_an_id_that_is_taken_is_a_conflict(place: Place):
    async with place.engine() as engine:
        run = await engine.start(echo, 1, id="o-1")
        await run.result()
        with pytest.raises(Conflict):
            await run.fork(at=1, id="o-1")


async def test_a_fork_with_an_edit_that_can_not_be_stored_is_refused_and_harms_nobody(place: Place):
    world = World()
    flow = world.flow()
    async with place.engine(flow) as engine:
        run = await engine.start(flow)
        await run.result()
        for bad in ("\ud800", float("nan"), object()):
            with pytest.raises(InvalidInput):
                await run.fork(at="c", edits={"a": bad})
        assert await (await engine.start(flow)).result() == ["a", "b", "c"]


async def test_a_rewound_run_does_again_what_came_after(place: Place):
    world = World()
    flow = world.flow()
    async with place.engine(flow, limits=SMALL_BLOBS) as engine:
        run = await engine.start(flow)
        await run.result()
        world.done.clear()
        await run.rewind("b")
        assert await run.result() == ["a", "b", "c"]
        assert world.done == ["b", "c"]


async def test_a_rewind_to_a_place_that_is_not_there_is_refused(place: Place):
    async with place.engine() as engine:
        run = await engine.start(echo, 1)
        await run.result()
        with pytest.raises(Conflict) as caught:
            await run.rewind("nothing")
        assert caught.value.code == "CODE_REWIND_TARGET"
        assert await run.status() == "completed"


async def test_a_failed_run_goes_on_where_it_failed(place: Place):
    world = World()

    async def break_it() -> None:
        world.broken = True

    @workflow
    async def breaking(ctx: Context) -> list[str]:
        await ctx.step("a", lambda: world.do("a"))
        await ctx.step("break", break_it)
        await ctx.step("b", lambda: world.do("b"), max_attempts=1)
        return list(world.done)

    async with place.engine(breaking) as engine:
        run = await engine.start(breaking)
        with pytest.raises(RunFailed):
            await run.result()
        world.broken = False
        await run.retry()
        assert await run.result() == ["a", "b"]


async def test_a_cancelled_run_with_compensation_undoes_its_work_newest_first(place: Place):
    undone: list[str] = []
    gate = asyncio.Event()

    async def undo(what: Undo) -> None:
        undone.append(what.step)

    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("reserve", lambda: "r", rollback=undo)
        await ctx.step("pay", lambda: "p", rollback=undo)
        await ctx.step("slow", gate.wait)

    async with place.engine(work) as engine:
        run = await engine.start(work)

        async def both_done() -> bool:
            return len(numbers(await run.events(), "op.closed")) == 2

        await soon(both_done)
        await run.cancel("enough", compensate=True)
        with pytest.raises(RunFailed) as caught:
            await run.result()
        assert caught.value.run_status == "cancelled"
        assert undone == ["pay", "reserve"]


async def test_while_a_run_undoes_its_work_a_message_does_not_make_it_work_again(place: Place):
    ran: list[str] = []
    undoing, gate = asyncio.Event(), asyncio.Event()

    async def undo(what: Undo) -> None:
        undoing.set()
        await gate.wait()

    async def after() -> None:
        ran.append("after")

    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("pay", lambda: "p", rollback=undo)
        await ctx.listen("go")
        await ctx.step("after", after)

    async with place.engine(work) as engine:
        run = await engine.start(work)

        async def paid() -> bool:
            return bool(numbers(await run.events(), "op.closed"))

        await soon(paid)
        await run.cancel("enough", compensate=True)
        await undoing.wait()
        await run.message("go")
        for _ in range(50):
            await asyncio.sleep(0)
        gate.set()
        with pytest.raises(RunFailed):
            await run.result()
        assert ran == []


async def test_a_completed_run_can_be_compensated_and_stays_completed(place: Place):
    undone: list[str] = []

    async def undo(what: Undo) -> None:
        undone.append(what.output)

    @workflow
    async def work(ctx: Context) -> str:
        return await ctx.step("pay", lambda: "paid", rollback=undo)

    async with place.engine(work) as engine:
        run = await engine.start(work)
        assert await run.result() == "paid"
        await run.compensate()
        assert await run.result() == "paid"
        assert undone == ["paid"]
        await run.compensate()
        assert await run.result() == "paid"
        assert undone == ["paid"]
