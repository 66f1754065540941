"""Going on with a run that failed: what failed is tried again, and what was undone is done again.

What succeeded stays. What a step gave that was undone is not true any more: who has not succeeded with it gets what the
step gives now.
"""

from __future__ import annotations

from plait.kernel.effects import Block, CancelTask
from plait.kernel.errors import Conflict
from plait.kernel.events import RunReopened
from plait.kernel.ids import TaskToken
from plait.kernel.inputs import Resume

from .advance import NOT_NEEDED
from .decision_builder import DecisionBuilder
from .events import CompStarted, FlowResumed
from .evolve import fold
from .flow import Flow
from .outcome import NOT_MATCHED
from .recovery import fill_all, under_way
from .state import StepState
from .tasks import compensation_task
from .tokens import undone_item


def retry(builder: DecisionBuilder) -> None:
    """Goes on with a run that failed, or that is blocked because a handler was not known."""
    state = builder.flow.state
    if not builder.flow.over:
        builder.effect(Block(None))
        for effect in under_way(builder, recovered=False):
            builder.effect(effect)
        fill_all(builder)
    elif state.status == "failed" and state.ended_at is not None:
        _reopen(builder)


def settle(builder: DecisionBuilder, resume: Resume) -> None:
    """A person has decided about a dead letter."""
    if resume.verdict == "discard":
        return
    state, token = builder.flow.state, undone_item(resume.token or "")
    found = builder.flow.find(token)
    status = found[2].status if found is not None else None
    if found is not None and status == "compensation_failed" and not builder.flow.over:
        builder.record(CompStarted(found[0].id, token))
        builder.effect(compensation_task(builder, found[0], token))
    elif status == "failed" and state.status == "failed" and state.ended_at is not None:
        _reopen(builder)
    else:
        raise Conflict(
            "kernel.dead_letter_settled",
            "the run does not wait for this task any more",
            why="it went on without it, or has ended",
            fix="discard the dead letter, or fork the run",
        )


def _reopen(builder: DecisionBuilder) -> None:
    """What failed, and what was skipped because of that, is pending again, under the same tokens."""
    steps = builder.flow.state.steps
    again = _again(builder.flow)
    items = [(token, item) for step in steps.values() for token, item in step.items.items()]
    for token, item in items:
        if item.retry_at is not None:
            builder.effect(CancelTask(TaskToken(token)))  # it begins afresh
    builder.decision.reopen = "retry"
    builder.decision.retried = [TaskToken(token) for token, item in items if item.status == "failed"]
    fold(builder.flow, RunReopened("retry"), builder.now)  # the kernel records it before what is decided here
    builder.record(FlowResumed(sorted(again)))
    for effect in under_way(builder, recovered=False):
        builder.effect(effect)
    fill_all(builder)
    builder.touch_all()


def _again(flow: Flow) -> set[str]:
    """Steps that failed, those whose work was undone, and whoever has to do with these."""
    steps = flow.state.steps
    undone = {step_id for step_id, step in steps.items() if step.status == "completed" and _was_undone(step)}
    found = undone | {step_id for step_id, step in steps.items() if step.status == "failed"}
    found |= {
        step_id
        for step_id, step in steps.items()
        if step.status == "active" and (_was_undone(step) or flow.compiled.upstream[step_id] & undone)
    }
    while more := {step_id for step_id in steps.keys() - found if _wanted_again(flow, step_id, found)}:
        found |= more
    return found


def _was_undone(step: StepState) -> bool:
    return any(item.status == "compensated" for item in step.items.values())


def _wanted_again(flow: Flow, step_id: str, again: set[str]) -> bool:
    """A step that was skipped for want of a use that there may be now, or of a value that may come now."""
    step, compiled = flow.state.steps[step_id], flow.compiled
    if step.status != "skipped":
        return False
    if step.reason == NOT_MATCHED:
        return bool(compiled.upstream[step_id] & again)
    if step.reason != NOT_NEEDED:
        return False
    open_names = (name for name in compiled.steps[step_id].outputs if not flow.values(name))
    return any(consumer in again for name in open_names for consumer in compiled.consumers[name])
