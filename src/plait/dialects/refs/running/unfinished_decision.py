"""Completes a decision that a fork was cut off in, and loops that ended late. Events of one decision are recorded
together, so that only a fork can ever end between them."""

from __future__ import annotations

from plait.dialects.refs.definition.plan import StepPlan

from .decision_builder import DecisionBuilder
from .ending import end
from .events import StepCompleted
from .results import bail, finish_loop


def finish_decision(builder: DecisionBuilder) -> None:
    if builder.state.how:
        return  # all was done: whoever forks the end of a run wants to continue from there
    for step in builder.plan.order:
        if builder.over:
            return
        if step.kind == "return":
            _return(builder, step)
        elif step.name == builder.state.succeeded:
            bail(builder, step)
        elif step.name in builder.run.loops:
            _finish(builder, step)


def finish_loops(builder: DecisionBuilder) -> None:
    """Completes the loops of a run that continues whose last iterations ended after the run had."""
    for step in builder.plan.order:
        if builder.over:
            return
        if step.name in builder.run.loops:
            _finish(builder, step)


def _return(builder: DecisionBuilder, step: StepPlan) -> None:
    work = builder.run.work(step.name)
    if work.status == "running":
        builder.record(StepCompleted(step.name, work.input))
    if work.status == "completed":
        end(builder, "return", work.output, step.name)


def _finish(builder: DecisionBuilder, step: StepPlan) -> None:
    loop = builder.run.loops[step.name]
    if loop.settled == len(loop.items):
        finish_loop(builder, step)
