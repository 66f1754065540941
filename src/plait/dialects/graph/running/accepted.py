"""Work that others have accepted: they report its result later, to an address they were given."""

from __future__ import annotations

from plait.kernel.effects import AwaitResult, ClearTimer, FailTask, SetTimer
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, TaskToken

from .decision_builder import DecisionBuilder
from .events import NodeAccepted
from .state import CALLBACK, Execution
from .tasks import work_task


def accept(builder: DecisionBuilder, execution: Execution, attempt: int) -> None:
    """The attempt's timeout starts again: being accepted takes little of it."""
    seconds = builder.plan(execution).policy.timeout
    until = None if seconds is None else Millis(builder.now + round(seconds * 1000))
    builder.record(NodeAccepted(execution.node, execution.id, attempt, until))
    builder.effect(awaiting(builder, execution))
    if until is not None:
        builder.effect(SetTimer(_timer(execution), until))


def awaiting(builder: DecisionBuilder, execution: Execution) -> AwaitResult:
    task = work_task(builder, execution)
    assert task is not None
    return AwaitResult(task, execution.accepted)


def reported(builder: DecisionBuilder, execution: Execution) -> None:
    if execution.accepted and execution.until is not None:
        builder.effect(ClearTimer(_timer(execution)))


def not_reported(builder: DecisionBuilder, token: str) -> None:
    """Fails the attempt, because its result was not reported in time."""
    execution = builder.run.by_task(token)
    if execution is None or not execution.accepted or execution.dead:
        return
    task = awaiting(builder, execution).task
    what = f"`{execution.node}` was accepted, but no result was reported within {task.policy.timeout:g} s"
    builder.effect(FailTask(task, execution.accepted, ErrorInfo("task.timeout", what, kind="timeout")))


def _timer(execution: Execution) -> TaskToken:
    return TaskToken(CALLBACK + execution.task)
