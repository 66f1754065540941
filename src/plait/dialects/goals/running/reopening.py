"""Continuing on request: a run that failed or is blocked, or one dead letter.

In a run that failed, what failed is retried and what was compensated is redone; what completed stays. See
`resumption`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from plait.kernel.effects import Block, CancelChild, CancelTask, ClearTimer, Compensate
from plait.kernel.errors import Conflict
from plait.kernel.events import RunReopened
from plait.kernel.ids import TaskToken
from plait.kernel.inputs import Resume

from .advance import NOT_NEEDED
from .children import child_id
from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder
from .events import CompStarted, FlowResumed
from .evolve import fold
from .failure import NOT_MATCHED
from .flow import Flow
from .recovery import fill_all, pending_effects
from .resumption import Withdrawn, steps_to_restart, withdrawn_values
from .state import CALLBACK, MAPPING, PREPARE, ItemState, StepState, compensated_item, match_token
from .tasks import compensation_task


def retry(builder: DecisionBuilder) -> None:
    """Continues a run that failed, or that is blocked because a handler was unknown."""
    state = builder.flow.state
    if not builder.flow.over:
        builder.effect(Block(None))
        for effect in pending_effects(builder, recovered=False):
            builder.effect(effect)
        fill_all(builder)
    elif state.status == "failed" and state.ended_at is not None:
        _reopen(builder)


def settle(builder: DecisionBuilder, resume: Resume) -> None:
    """Applies a person's decision about a dead letter."""
    if resume.verdict == "discard":
        return
    state, token = builder.flow.state, compensated_item(resume.token or "")
    found = builder.flow.done_work(token)
    status = found[1].status if found is not None else None
    if found is not None and status == "compensation_failed":
        _compensate_again(builder, found[0], token)
    elif status == "failed" and state.status == "failed" and state.ended_at is not None:
        _reopen(builder)
    else:
        raise Conflict(
            "kernel.dead_letter_settled",
            "the run does not wait for this task any more",
            why="it went on without it, or has ended",
            fix="discard the dead letter, or fork the run",
        )


def _compensate_again(builder: DecisionBuilder, plan: StepPlan, token: str) -> None:
    """Retries the compensator of a step that failed while the run continued; the run may have failed since."""
    task = compensation_task(builder, plan, token)
    if builder.flow.over:
        builder.effect(Compensate(task.token))
    else:
        builder.record(CompStarted(plan.id, token))
        builder.effect(task)


def _reopen(builder: DecisionBuilder) -> None:
    """Makes what failed, and what was skipped because of that, pending again, under the same tokens."""
    steps = builder.flow.state.steps
    again = _again(builder.flow)
    items = [(token, item) for step in steps.values() for token, item in step.items.items()]
    builder.decision.reopen = "retry"
    builder.decision.retried = [TaskToken(token) for token, item in items if item.status == "failed"]
    withdrawn = withdrawn_values(builder.flow, again)
    restarted = steps_to_restart(builder.flow, again, withdrawn)
    _stop_stale_work(builder, restarted, withdrawn)
    renewed = _renewed(builder, again.difference(restarted))
    fold(builder.flow, RunReopened("retry"), builder.now)  # the kernel records it before the events of this decision
    builder.record(FlowResumed(sorted(again), restarted, renewed))
    for effect in pending_effects(builder, recovered=False):
        builder.effect(effect)
    fill_all(builder)
    builder.touch_all()


def _stop_stale_work(builder: DecisionBuilder, restarted: Collection[str], withdrawn: Withdrawn) -> None:
    """Cancels pending retries, which start afresh, and work on withdrawn values, which is no longer wanted."""
    flow, stale = builder.flow, [f"{PREPARE}{step_id}" for step_id in sorted(builder.preparing)]
    builder.preparing.clear()
    for step_id, step in flow.state.steps.items():
        stale += [token for token, item in step.items.items() if item.retry_at is not None]
        stale += [
            match_token(step_id, name, place)
            for name in withdrawn
            if name in {each.name for each in builder.plan(step_id).matched}
            for place in range(len(flow.values(name)))
        ]
    for token, plan, item in _under_way(builder, restarted):
        if plan.step.type in ("flow", "run"):
            builder.effect(CancelChild(child_id(builder, plan.id, token)))
        else:
            stale += [token, f"{MAPPING}{token}"]
        if item.accepted_at is not None:
            builder.effect(ClearTimer(TaskToken(CALLBACK + token)))
    for token in stale:
        builder.effect(CancelTask(TaskToken(token)))


def _under_way(builder: DecisionBuilder, steps: Collection[str]) -> list[tuple[str, StepPlan, ItemState]]:
    return [
        (token, builder.plan(step_id), item)
        for step_id in steps
        for token, item in builder.flow.state.steps[step_id].items.items()
        if item.status == "active"
    ]


def _renewed(builder: DecisionBuilder, steps: Iterable[str]) -> dict[str, str]:
    """Work that was compensated, and the tokens under which it is redone."""
    return {
        token: builder.item_token(step_id, item.place, again=1)
        for step_id in sorted(steps)
        for token, item in builder.flow.state.steps[step_id].items.items()
        if item.status == "compensated"
    }


def _again(flow: Flow) -> set[str]:
    """Steps that failed, those whose work was compensated, and the steps that depend on these."""
    steps = flow.state.steps
    compensated = {step_id for step_id, step in steps.items() if step.status == "completed" and _was_compensated(step)}
    found = compensated | {step_id for step_id, step in steps.items() if step.status == "failed"}
    found |= {
        step_id
        for step_id, step in steps.items()
        if step.status == "active" and (_was_compensated(step) or flow.compiled.upstream[step_id] & compensated)
    }
    while more := {step_id for step_id in steps.keys() - found if _wanted_again(flow, step_id, found)}:
        found |= more
    return found


def _was_compensated(step: StepState) -> bool:
    return any(item.status == "compensated" for item in step.items.values())


def _wanted_again(flow: Flow, step_id: str, again: set[str]) -> bool:
    """Whether a step was skipped because it was not needed, or for want of a value, and this may change now."""
    step, compiled = flow.state.steps[step_id], flow.compiled
    if step.status != "skipped":
        return False
    if step.reason == NOT_MATCHED:
        return step_id not in compiled.closed and bool(compiled.upstream[step_id] & again)
    if step.reason != NOT_NEEDED:
        return False
    open_names = (name for name in compiled.steps[step_id].outputs if not flow.values(name))
    return any(consumer in again for name in open_names for consumer in compiled.consumers[name])
