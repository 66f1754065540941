"""`max_wall_time_s`: the time limit of the whole run."""

from __future__ import annotations

from plait.kernel.effects import SetTimer
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, TaskToken

from .decision_builder import DecisionBuilder
from .ending import fail_run
from .events import LimitExceeded

WALL = TaskToken("~wall_time")


def limit_wall_time(builder: DecisionBuilder) -> None:
    """A fork gets the full time again."""
    state = builder.run.state
    seconds = builder.run.plan.ir.limits.max_wall_time_s
    if seconds is not None:
        builder.effect(SetTimer(WALL, Millis((state.forked_at or state.started_at) + round(seconds * 1000))))


def out_of_time(builder: DecisionBuilder) -> None:
    seconds = builder.run.plan.ir.limits.max_wall_time_s
    message = f"the run took longer than {seconds:g} s" if seconds is not None else "the run took too long"
    builder.record(LimitExceeded("", "graph.deadline_exceeded", message))
    fail_run(builder, ErrorInfo("graph.deadline_exceeded", message, kind="deadline"))
