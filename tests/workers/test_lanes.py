"""Attempts share tasks of the event loop, and notice nothing of it."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

import pytest

from plait.kernel import values
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.task import CALL, Attempt, Policy, Task
from plait.workers.lanes import Lanes

color: contextvars.ContextVar[str] = contextvars.ContextVar("color", default="none")


def attempt(number: int) -> Attempt:
    task = Task(TaskToken(f"t-{number}"), "a step", CALL, None, Policy(), "key")
    return Attempt(RunId("run"), task, number, values.NULL, lambda *_: None, lambda *_: None)


async def rounds() -> None:
    """Of the event loop, more than enough."""
    for _ in range(50):
        await asyncio.sleep(0)


def unwatched(attempt: Attempt) -> None:
    """It may wait for as long as it likes."""


async def test_attempts_that_wait_for_nothing_share_a_task():
    seen: list[Any] = []

    async def run(attempt: Attempt) -> None:
        seen.append(asyncio.current_task())

    lanes = Lanes(run, unwatched)
    for number in range(5):
        lanes.add(attempt(number))
    await lanes.close()
    assert len(seen) == 5
    assert len(set(seen)) == 1


async def test_attempts_that_wait_have_tasks_of_their_own_and_begin_together():
    seen: dict[int, Any] = {}
    gate = asyncio.Event()

    async def run(attempt: Attempt) -> None:
        seen[attempt.number] = asyncio.current_task()
        await gate.wait()
        assert asyncio.current_task() is seen[attempt.number] is attempt.lane

    lanes = Lanes(run, unwatched)
    for number in range(5):
        lanes.add(attempt(number))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(set(seen.values())) == 5
    gate.set()
    await lanes.close()


async def test_what_one_attempt_sets_no_other_one_sees():
    seen: list[str] = []

    async def run(attempt: Attempt) -> None:
        seen.append(color.get())
        color.set(f"of {attempt.number}")
        if attempt.number % 2:
            await asyncio.sleep(0)
        assert color.get() == f"of {attempt.number}"

    lanes = Lanes(run, unwatched)
    for number in range(6):
        lanes.add(attempt(number))
    await asyncio.sleep(0)
    for number in range(6, 9):
        lanes.add(attempt(number))
    await asyncio.sleep(0)
    await lanes.close()
    assert seen == ["none"] * 9
    assert color.get() == "none"


async def test_one_that_is_not_wanted_any_more_before_it_began_never_begins():
    begun: list[int] = []

    async def run(attempt: Attempt) -> None:
        begun.append(attempt.number)

    lanes = Lanes(run, unwatched)
    kept, dropped = attempt(1), attempt(2)
    lanes.add(dropped)
    lanes.add(kept)
    dropped.over = True
    await lanes.close()
    assert begun == [1]


async def test_an_attempt_that_cancels_its_own_task_harms_no_other():
    ended: list[int] = []

    async def run(attempt: Attempt) -> None:
        if attempt.number == 1 and (task := asyncio.current_task()) is not None:
            task.cancel()
            return
        await asyncio.sleep(0)
        ended.append(attempt.number)

    lanes = Lanes(run, unwatched)
    for number in range(4):
        lanes.add(attempt(number))
    await rounds()
    await lanes.close()
    assert sorted(ended) == [0, 2, 3]


async def test_timeouts_and_cancelling_reach_the_attempt_that_waits():
    stopped: list[int] = []

    async def run(attempt: Attempt) -> None:
        try:
            async with asyncio.timeout(0 if attempt.number == 1 else None):
                await asyncio.Event().wait()
        except TimeoutError:
            stopped.append(attempt.number)
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # it may clean up
            stopped.append(attempt.number)

    lanes = Lanes(run, unwatched)
    one, two = attempt(1), attempt(2)
    lanes.add(two)
    lanes.add(one)
    await rounds()
    assert stopped == [1]
    assert two.lane is not None
    two.lane.cancel()
    await lanes.close()
    assert stopped == [1, 2]


async def test_what_an_attempt_raises_leaves_no_other_behind():
    begun: list[int] = []

    async def run(attempt: Attempt) -> None:
        begun.append(attempt.number)
        if attempt.number == 0:
            raise ValueError("a bug of the worker's own")

    lanes = Lanes(run, unwatched)
    for number in range(3):
        lanes.add(attempt(number))
    await rounds()
    await lanes.close()
    lanes.add(attempt(3))
    await lanes.close()
    assert begun == [0, 1, 2, 3]


@pytest.mark.parametrize("waits", [False, True])
async def test_those_that_come_later_are_taken_too(waits: bool):
    done: list[int] = []

    async def run(attempt: Attempt) -> None:
        if waits:
            await asyncio.sleep(0)
        done.append(attempt.number)
        if attempt.number < 5:
            lanes.add(following[attempt.number + 1])

    following = [attempt(number) for number in range(6)]
    lanes = Lanes(run, unwatched)
    lanes.add(following[0])
    await rounds()
    await lanes.close()
    assert done == [0, 1, 2, 3, 4, 5]
