"""Compensation, as far as it needs no run: what is undone next, and how the run ends after it."""

import pytest

from plait.kernel.errors import ErrorInfo
from plait.kernel.events import RollbackStarted, RollbackStep, RunCancelled, RunCompleted, RunFailed
from plait.kernel.ids import TaskToken
from plait.kernel.retry import ONCE
from plait.kernel.rollback import Rollback
from plait.kernel.task import Policy, Task

ERROR = ErrorInfo("task.failed", "no luck")


def undo(name: str) -> Task:
    return Task(TaskToken(name), name, "toy", None, Policy(ONCE), "key")


ALL = [undo("reserve"), undo("pay"), undo("ship")]


def begun(cause: str = "failure", **more: object) -> Rollback:
    return Rollback.begun(RollbackStarted(cause, **more), None)  # pyright: ignore[reportArgumentType]


def step(name: str, status: str) -> RollbackStep:
    return RollbackStep(TaskToken(name), status)  # pyright: ignore[reportArgumentType]


def next_of(rollback: Rollback) -> str | None:
    task = rollback.next(ALL)
    return None if task is None else task.token


def test_the_newest_is_undone_first():
    rollback = begun()
    order: list[str | None] = []
    while (token := next_of(rollback)) is not None:
        order.append(token)
        rollback.evolve(step(token, "completed"))
    assert order == ["ship", "pay", "reserve"]


def test_a_failed_compensator_is_passed_over_until_it_is_tried_again():
    rollback = begun()
    rollback.evolve(step("ship", "failed"))
    assert (rollback.failed, next_of(rollback)) == (["ship"], "pay")
    rollback.evolve(step("ship", "retried"))
    assert rollback.failed == []
    assert next_of(rollback) == "ship"


def test_a_discarded_compensator_is_passed_over():
    rollback = begun()
    rollback.evolve(step("ship", "failed"))
    rollback.evolve(step("ship", "discarded"))
    assert (rollback.failed, next_of(rollback)) == ([], "pay")


def test_what_an_earlier_rollback_undid_stays_undone():
    first = begun()
    first.evolve(step("ship", "completed"))
    assert next_of(Rollback.begun(RollbackStarted("request"), first)) == "pay"


def test_a_second_rollback_does_not_change_the_first():
    first = begun()
    second = Rollback.begun(RollbackStarted("request"), first)
    second.evolve(step("ship", "completed"))
    assert first.done == []


@pytest.mark.parametrize(
    ("rollback", "before", "final"),
    [
        (begun("failure", error=ERROR, data={"a": 1}), None, RunFailed(ERROR, {"a": 1})),
        (begun("cancel", reason="enough"), None, RunCancelled("enough")),
        (begun("deadline", error=ERROR), None, RunFailed(ERROR)),
        (begun("limit", error=ERROR), None, RunFailed(ERROR)),
        (begun("request"), RunCompleted(), RunCompleted()),
        (begun("request"), RunFailed(ERROR), RunFailed(ERROR)),
        (begun("request"), RunCancelled("x"), RunCancelled("x")),
    ],
)
def test_the_run_ends_as_it_would_have_without_compensation(rollback: Rollback, before: object, final: object):
    assert rollback.outcome(before) == final  # pyright: ignore[reportArgumentType]


def test_a_rollback_on_request_of_a_run_that_never_ended_is_a_bug():
    with pytest.raises(RuntimeError):
        begun("request").outcome(None)
