"""A throttled run: tokens are counted, and go on one at a time, each when it is due."""

from __future__ import annotations

from plait.kernel.effects import SetTimer
from plait.kernel.ids import TaskToken

from .decision_builder import DecisionBuilder
from .events import TokenReleased, TokenThrottled
from .state import THROTTLE, Execution


def held_back(builder: DecisionBuilder, execution: Execution) -> bool:
    """Whether the execution is held back until it is due."""
    if execution.due <= builder.now:
        return False
    builder.record(TokenThrottled(execution.node, execution.id, execution.due))
    builder.effect(throttle_timer(execution))
    return True


def throttle_timer(execution: Execution) -> SetTimer:
    return SetTimer(TaskToken(THROTTLE + execution.task), execution.due)


def release(builder: DecisionBuilder, token: str) -> None:
    execution = builder.run.by_task(token)
    if execution is not None and execution.held:
        builder.record(TokenReleased(execution.node, execution.id))
        builder.ready.append(execution)
