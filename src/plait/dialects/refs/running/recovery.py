"""What must be under way, from state alone: after a load, in a fork, and when a run goes on."""

from __future__ import annotations

from plait.kernel.effects import Effect, SetTimer
from plait.kernel.ids import Millis

from .children import BadRequest, child_of, is_child
from .decision_builder import DecisionBuilder
from .state import START
from .tasks import action_task, transform_task


def under_way_effects(builder: DecisionBuilder) -> list[Effect]:
    """Tasks that were begun and have not ended. Children go on by themselves."""
    found: list[Effect] = []
    for name, index, work in builder.run.under_way():
        step = builder.plan.steps[name]
        if work.raw:
            found.append(transform_task(builder, step, index, work))
        elif not is_child(step):
            found.append(action_task(builder, step, index, work))
    return found


def fork_effects(builder: DecisionBuilder) -> list[Effect]:
    """Of a fork: timers and children belong to the run whose past it has."""
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
