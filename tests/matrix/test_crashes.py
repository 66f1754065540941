"""The five dialects together: each starts each as a child, and the engine dies at every commit of the family.

Wherever that happens, the family ends as if it had not: the same values, the same runs, each effect under the same
key, each event once. `survives_every_crash` sees to that; the tests say what happens, and in which order.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from plait.errors import Conflict, RunFailed
from plait.testing import Report, Sim, SimRun, survives_every_crash
from tests.matrix.families import PAIRS, Family
from tests.matrix.world import TOLD, World, numbers

every_pair = pytest.mark.parametrize(("one", "other"), PAIRS, ids=[f"{one}-{other}" for one, other in PAIRS])

DONE = ["before", "first", "second", "after"]
UNDONE = [f"undo-{name}" for name in reversed(DONE)]
GOES_ON = ("goals", "refs")
"""Dialects that do again what was compensated, when they are retried; the others refuse."""
Script = Callable[[Sim, SimRun, World], Awaitable[None]]


async def play(one: str, other: str, world: World, script: Script, *, undoable: bool = True) -> Report:
    family = Family(one, other, world, undoable=undoable)

    async def act(sim: Sim, run: SimRun) -> None:
        await sim.settle()
        await script(sim, run, world)

    # What is on disk after a commit is what a crash inside the next one leaves; and a crash reloads every run
    options: dict[str, Any] = {"moments": ("inside",), "caches": (1000,)}
    return await survives_every_crash(
        family.parent, {"n": 1}, act, definitions=family.definitions, effects=world, **options
    )


async def end(sim: Sim, run: SimRun) -> str:
    await sim.skip_until(run.ended)
    await sim.settle()
    return await run.status()


def assert_once_each(world: World, name: str, times: int) -> None:
    assert len(world.of(name)) == times, f"{name} was done under {world.of(name)}"


@every_pair
async def test_a_family_passes_values_and_is_compensated_newest_first(one: str, other: str) -> None:
    async def script(sim: Sim, run: SimRun, world: World) -> None:
        assert max(numbers(await sim.result(run))) == 5
        assert world.names == DONE
        await run.compensate()
        assert await end(sim, run) == "completed"
        assert world.names == DONE + UNDONE
        await run.compensate()
        await end(sim, run)
        assert world.names == DONE + UNDONE, "it was compensated twice"

    report = await play(one, other, World(), script)
    assert report.crashes == report.commits > 8


@every_pair
async def test_a_retry_after_the_failure_of_a_child_reaches_it_under_new_keys(one: str, other: str) -> None:
    async def script(sim: Sim, run: SimRun, world: World) -> None:
        with pytest.raises(RunFailed, match=TOLD):
            await sim.result(run)
        await run.retry()
        assert await end(sim, run) == "failed"
        world.heal()
        await run.retry()
        assert max(numbers(await sim.result(run))) == 5
        assert world.names == ["before", *["first", "second"] * 3, "after"]

    await play(one, other, World(failing=["second"]), script, undoable=False)


@every_pair
async def test_a_cancel_reaches_a_child_and_both_can_be_compensated_later(one: str, other: str) -> None:
    async def script(sim: Sim, run: SimRun, world: World) -> None:
        await run.cancel()
        assert await end(sim, run) == "cancelled"
        assert {row.status for row in await sim.engine.runs()} == {"cancelled"}
        assert world.names == ["before", "first", "second"]
        await run.compensate()
        assert await end(sim, run) == "cancelled"
        assert world.names == ["before", "first", "second", "undo-first", "undo-before"]

    await play(one, other, World(waiting=["second"]), script)


@every_pair
async def test_a_cancel_that_compensates_does_so_in_a_child_that_is_under_way(one: str, other: str) -> None:
    async def script(sim: Sim, run: SimRun, world: World) -> None:
        await run.cancel(compensate=True)
        assert await end(sim, run) == "cancelled"
        assert {row.status for row in await sim.engine.runs()} == {"cancelled"}
        assert world.names == ["before", "first", "second", "undo-first", "undo-before"]
        world.heal()
        if one == "refs":  # alone goes on with what was cancelled
            await run.retry()
            assert max(numbers(await sim.result(run))) == 5
            assert world.names[-4:] == DONE

    await play(one, other, World(waiting=["second"]), script)


@every_pair
async def test_a_parent_that_fails_compensates_its_child_and_a_retry_does_its_work_again(one: str, other: str) -> None:
    undone = UNDONE[1:]

    async def script(sim: Sim, run: SimRun, world: World) -> None:
        assert await end(sim, run) == "failed"
        if one == "afl":  # it compensates only when it is asked to
            assert world.names == DONE
            await run.compensate()
            await end(sim, run)
        assert world.names == DONE + undone
        world.heal()
        if one in GOES_ON:
            await goes_on(sim, run, world)
        else:
            with pytest.raises(Conflict, match=r"undone|compensated"):
                await run.retry()

    async def goes_on(sim: Sim, run: SimRun, world: World) -> None:
        await run.retry()
        assert max(numbers(await sim.result(run))) == 5
        await run.compensate()
        assert await end(sim, run) == "completed"
        for name in ("before", "first", "second", "undo-before", "undo-first", "undo-second"):
            assert_once_each(world, name, 2)
        assert world.names[-4:] == UNDONE

    await play(one, other, World(failing=["after"]), script)
