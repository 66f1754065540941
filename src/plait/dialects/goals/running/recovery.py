"""Going on: after a load, after a decision that left something for later, and after the run had failed.

In a run that failed, what failed is tried again and what was compensated is done again; what succeeded stays. What a
step gave that was compensated is not true any more: who has not succeeded with it gets what the step gives now.
"""

from __future__ import annotations

from plait.kernel.effects import Block, CancelTask, Effect
from plait.kernel.errors import Conflict
from plait.kernel.events import RunReopened
from plait.kernel.ids import TaskToken
from plait.kernel.inputs import Resume

from .advance import NOT_NEEDED, match_tasks, recover_preparing
from .children import child_of
from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder
from .events import CompStarted, FlowResumed
from .evolve import fold
from .failure import NOT_MATCHED
from .flow import Flow
from .state import StepState, compensated_item
from .tasks import compensation_task, item_inputs, map_outputs_task, missing_handler, prepare_task, work_task
from .work import blocked, failed, fill, give_up_strays

INTERRUPTED = "its process died after the run had ended"


def after_load(builder: DecisionBuilder) -> None:
    """It was read into memory: nothing of it is under way here. What was when the run had its outcome already is not
    done again; an answer from elsewhere may still come."""
    if builder.flow.over:
        for token, plan in local_work(builder) if builder.flow.takes_results else ():
            if builder.flow.item(plan.id, token).returned:
                builder.effect(map_outputs_task(builder, plan, token))
            else:
                failed(builder, plan, token, INTERRUPTED)
    else:
        recover_preparing(builder)
        go_on(builder)


def go_on(builder: DecisionBuilder) -> None:
    """Looks at everything: a fork may begin in the middle of a decision, and a retry that waits leaves its slot."""
    if not builder.flow.over:
        give_up_strays(builder)
        fill_all(builder)
        builder.touch_all()


def fill_all(builder: DecisionBuilder) -> None:
    for step_id in list(builder.flow.slots):
        fill(builder, builder.plan(step_id))


def local_work(builder: DecisionBuilder) -> list[tuple[str, StepPlan]]:
    """Items that are worked on by this process, or were by one before it."""
    flow = builder.flow
    return [
        (token, builder.plan(step_id))
        for step_id, slots in flow.slots.items()
        if slots.active and builder.plan(step_id).step.type not in ("flow", "run")
        for token, item in flow.state.steps[step_id].items.items()
        if item.status == "active" and token not in flow.awaited
    ]


# -- what must be under way --------------------------------------------------------------------------------------------


def pending_effects(builder: DecisionBuilder, *, recovered: bool) -> list[Effect]:
    found: list[Effect] = [prepare_task(builder, builder.plan(step_id)) for step_id in sorted(builder.preparing)]
    for step_id, plan in builder.flow.compiled.steps.items():
        items = builder.flow.state.steps[step_id].items
        found += match_tasks(builder, plan)
        if items and plan.step.type not in ("flow", "run"):
            found += _work(builder, plan, recovered=recovered)
        found += [
            map_outputs_task(builder, plan, token) for token, item in items.items() if item.returned and item.open
        ]
        found += [
            compensation_task(builder, plan, token) for token, item in items.items() if item.status == "compensating"
        ]
    return found


def _work(builder: DecisionBuilder, plan: StepPlan, *, recovered: bool) -> list[Effect]:
    step = builder.flow.state.steps[plan.id]
    recall = recovered and plan.step.http is not None and plan.step.http.recall
    lacking = missing_handler(builder.context, plan.step)
    found: list[Effect] = []
    for token, item in step.items.items():
        waits = item.status == "pending" and item.retry_at is not None and step.status == "active"
        begun = item.status == "active" and not item.returned and (item.accepted_at is None or recall)
        if waits or begun:
            found.append(work_task(builder, plan, token) if lacking is None else blocked(plan, lacking))
    return found


def children_again(builder: DecisionBuilder) -> list[Effect]:
    """Those of a fork: what its log has as under way belongs to the run whose past it has."""
    return [child_of(builder, plan, token, item_inputs(builder, plan, token)) for token, plan in children(builder)]


def children(builder: DecisionBuilder) -> list[tuple[str, StepPlan]]:
    """Child runs that are not known to have ended."""
    return [
        (token, plan)
        for step_id, plan in builder.flow.compiled.steps.items()
        if plan.step.type in ("flow", "run")
        for token, item in builder.flow.state.steps[step_id].items.items()
        if item.status == "active"
    ]


# -- going on with a run that failed -----------------------------------------------------------------------------------


def retry(builder: DecisionBuilder) -> None:
    """Goes on with a run that failed, or that is blocked because a handler was not known."""
    state = builder.flow.state
    if not builder.flow.over:
        builder.effect(Block(None))
        for effect in pending_effects(builder, recovered=False):
            builder.effect(effect)
        fill_all(builder)
    elif state.status == "failed" and state.ended_at is not None:
        _reopen(builder)


def settle(builder: DecisionBuilder, resume: Resume) -> None:
    """A person has decided about a dead letter."""
    if resume.verdict == "discard":
        return
    state, token = builder.flow.state, compensated_item(resume.token or "")
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
    for effect in pending_effects(builder, recovered=False):
        builder.effect(effect)
    fill_all(builder)
    builder.touch_all()


def _again(flow: Flow) -> set[str]:
    """Steps that failed, those whose work was compensated, and whoever has to do with these."""
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
