"""The effects that must be in flight, from state alone: after a load, in a fork, and when a run continues."""

from __future__ import annotations

from plait.kernel.effects import Effect, SetTimer
from plait.kernel.ids import Millis

from .children import BadRequest, child_of, is_child
from .decision_builder import DecisionBuilder
from .state import START
from .tasks import action_task, transform_task


def under_way_effects(builder: DecisionBuilder) -> list[Effect]:
    """Tasks that were started and have not ended. Children continue by themselves."""
    found: list[Effect] = []
    for name, index, work in builder.run.under_way():
        step = builder.plan.steps[name]
        if work.raw:
            found.append(transform_task(builder, step, index, work))
        elif not is_child(step):
            found.append(action_task(builder, step, index, work))
    return found


def fork_effects(builder: DecisionBuilder) -> list[Effect]:
    """Timers and children of a fork: those in its log belong to the original run."""
    found: list[Effect] = []
    start_at = builder.plan.start_at
    if not builder.state.begun and start_at is not None:
        found.append(SetTimer(START, Millis(start_at)))
    for name, index, work in builder.run.under_way():
        step = builder.plan.steps[name]
        if is_child(step) and not work.raw:
            try:
                found.append(child_of(builder, step, index, work))
            except BadRequest:  # it was never started
                continue
    return found
