"""What follows a change: steps that can't or need not run end, the outcome is decided, and ready steps start.

Always in this order, and in the order of the steps' ids: (1) until nothing changes, pending steps with a lost input
fail and those nobody needs are skipped; (2) the outcome; (3) every ready step starts, all judged on the same state; and
again from 1, since a step that has ended or has all its inputs may make others superfluous. Only steps that a recorded
event may have touched are visited: when none is touched any more, visiting all of them would find nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Raw

from plait.kernel.effects import Effect, Finish, SetTimer
from plait.kernel.ids import Millis, TaskToken

from .compensation import compensate_next, owes_compensation
from .compiled_plan import StepPlan
from .decision_builder import EFFECTS_AT_ONCE, DecisionBuilder
from .events import InputWaited, StepFailed, StepSkipped
from .failure import NOT_MATCHED, failure
from .flow import Flow
from .input_resolution import Resolution, by_inner_name, gathered_inputs, resolution, still_wants
from .state import CALLBACK, LINGER, StepState, wait_token
from .tasks import match_task, prepare_task
from .work import start_work

NOT_NEEDED = "outputs not needed"
LOST = "required input no longer available"
LOOK_AGAIN = 60_000
"""Milliseconds. Work that outlives its run may die with its process, so the run is checked again after this time."""

_encode = msgspec.json.Encoder().encode


def advance(builder: DecisionBuilder) -> None:
    flow = builder.flow
    while flow.state.status == "active":
        candidates = _end_hopeless(builder)
        if _decide_outcome(builder):
            return
        if flow.compiled.matches:
            _judge_matches(builder, candidates)
        before = flow.unended
        _start_ready(builder, sorted(candidates))
        if builder.decision.more or (not builder.touched and flow.unended == before):
            break
    if flow.compiled.compensates:
        compensate_next(builder)


# -- 1: what can't or need not run -------------------------------------------------------------------------------------


def _end_hopeless(builder: DecisionBuilder) -> set[str]:
    """Ends steps that can't or need not run; returns the pending steps that were visited."""
    seen: set[str] = set()
    plans = builder.flow.compiled.steps
    while builder.touched:
        todo = sorted(builder.touched & builder.flow.pending)
        builder.touched = set()
        seen.update(todo)
        for step_id in todo:
            _end_if_hopeless(builder, plans[step_id])
    return seen


def _end_if_hopeless(builder: DecisionBuilder, plan: StepPlan) -> None:
    if closed := builder.flow.compiled.closed.get(plan.id):
        builder.record(StepSkipped(plan.id, NOT_MATCHED, closed))
        return
    stands = _demands(builder.flow, plan)
    if unmatched := [name for name, stand in stands.items() if stand == "unmatched"]:
        builder.record(StepSkipped(plan.id, NOT_MATCHED, unmatched))
    elif refused := [name for name, stand in stands.items() if stand == "refused"]:
        builder.record(StepSkipped(plan.id, f"input '{refused[0]}' has a value, and none is wanted", refused))
    elif (lost := [name for name, stand in stands.items() if stand == "lost"]) and not _may_skip(plan, stands):
        builder.record(StepFailed(plan.id, LOST, lost))
    elif not (plan.goal or needed(builder, plan, now=False)):
        builder.record(StepSkipped(plan.id, NOT_NEEDED))


def _may_skip(plan: StepPlan, stands: Mapping[str, Resolution]) -> bool:
    """Whether an input may still show that the step is not wanted. Until then a lost input fails nothing: otherwise the
    outcome would depend on which of the two came first."""
    return any(
        stands.get(each.name) == "open" and (each.match is not None or each.collect == "none") for each in plan.required
    )


def _demands(flow: Flow, plan: StepPlan) -> dict[str, Resolution]:
    """The resolution of the required inputs that count now: until its matches have all held, only those."""
    step = flow.state.steps[plan.id]
    gates: dict[str, Resolution] = {each.name: resolution(flow, step, each) for each in plan.matched}
    if any(stands != "resolved" for stands in gates.values()):
        return gates
    return {each.name: resolution(flow, step, each) for each in plan.required}


def needed(builder: DecisionBuilder, plan: StepPlan, *, now: bool) -> bool:
    """Whether it is a goal or a pending step can still use its outputs; `now`: even if that step's matches are open."""
    if plan.goal:
        return True
    flow, steps = builder.flow, builder.flow.state.steps
    return any(
        steps[consumer].status == "pending"
        and consumer not in builder.preparing
        and still_wants(flow, builder.plan(consumer), steps[consumer], name, now=now)
        for name in plan.outputs
        for consumer in flow.compiled.consumers[name]
    )


# -- 2: the outcome ----------------------------------------------------------------------------------------------------


def _decide_outcome(builder: DecisionBuilder) -> bool:
    """Ends the run once a goal can't be reached any more, or every step of the plan has ended."""
    flow = builder.flow
    error = failure(flow, builder.context.info.run_id)
    if error is not None:
        builder.effect(Finish("failed", error=error))
    elif flow.unended == 0 and not (flow.compiled.compensates and owes_compensation(flow)):
        builder.effect(Finish("completed", Raw(_encode(output(flow)))))
    else:
        return False
    if flow.active:
        _arm_again(builder)
    return True


def output(flow: Flow) -> dict[str, Raw]:
    """The first values of the declared outputs of all goals, and of the other names that a parent wants."""
    plan, given = flow.state.plan, flow.state.attributes
    names: list[str] = []
    for goal in plan.goals:
        step = flow.compiled.steps.get(goal)
        names += step.outputs if step is not None else plan.excluded.satisfied.get(goal, [])
    return {name: values[0].value for name in [*names, *flow.state.returns] if (values := given.get(name))}


def _arm_again(builder: DecisionBuilder) -> None:
    """Sets the timers of work that outlives the run again: its end clears all timers."""
    flow = builder.flow
    builder.effect(SetTimer(LINGER, Millis(builder.now + LOOK_AGAIN)))
    for step_id, step in flow.state.steps.items():
        http = flow.compiled.steps[step_id].step.http
        for token, item in step.items.items():
            if item.status == "active" and item.accepted_at is not None and http is not None and http.callback_timeout:
                due = Millis(item.accepted_at + http.callback_timeout)
                builder.effect(SetTimer(TaskToken(CALLBACK + token), due))


# -- 3: what can start -------------------------------------------------------------------------------------------------


def start_left(builder: DecisionBuilder) -> None:
    """Starts the steps that the previous decision had no room for."""
    left = list(builder.left)
    builder.left.clear()
    if not builder.flow.over:
        _start_ready(builder, left)
        builder.touched |= builder.flow.pending.intersection(left).difference(builder.left, builder.preparing)


def _start_ready(builder: DecisionBuilder, candidates: list[str]) -> None:
    """Starts the ready steps that fit into one decision, all judged on the same state. The rest is judged when its turn
    comes: of a thousand steps, all but a few would be judged over and over."""
    ready: list[StepPlan] = []
    judged = 0
    while judged < len(candidates) and len(ready) < EFFECTS_AT_ONCE:
        plan = _ready(builder, candidates[judged])
        ready += [] if plan is None else [plan]
        judged += 1
    for number, plan in enumerate(ready):
        if builder.is_full():
            builder.leave(each.id for each in ready[number:])
            break
        _start(builder, plan)
    builder.leave(candidates[judged:])


def _ready(builder: DecisionBuilder, step_id: str) -> StepPlan | None:
    """The step if it can start now. Waiting for optional inputs begins once everything else is there."""
    step = builder.flow.state.steps[step_id]
    if step.status != "pending" or step_id in builder.preparing:
        return None
    plan = builder.flow.compiled.steps[step_id]
    if any(resolution(builder.flow, step, each) != "resolved" for each in plan.required):
        return None
    if not (plan.goal or needed(builder, plan, now=True)):
        return None
    if plan.optional and _waits(builder, plan, step):
        return None
    return plan


def _waits(builder: DecisionBuilder, plan: StepPlan, step: StepState) -> bool:
    """Whether an optional input is still awaited; starts the wait."""
    found = False
    for each in plan.optional:
        if each.deadline == 0 or each.name in step.closed or resolution(builder.flow, step, each) != "open":
            continue
        found = True
        if each.deadline > 0 and each.name not in step.waits:
            until = Millis(builder.now + each.deadline)
            builder.record(InputWaited(plan.id, each.name, until))
            builder.effect(SetTimer(wait_token(plan.id, each.name), until))
    return found


def _start(builder: DecisionBuilder, plan: StepPlan) -> None:
    if plan.scripted:
        builder.preparing.add(plan.id)
        builder.touch_providers(plan.id)
        builder.effect(prepare_task(builder, plan))
    else:
        inputs = gathered_inputs(builder.flow, plan, builder.context.info)
        start_work(builder, plan, by_inner_name(plan, inputs))


# -- matches -----------------------------------------------------------------------------------------------------------


def _judge_matches(builder: DecisionBuilder, candidates: set[str]) -> None:
    for step_id in sorted(candidates):
        for effect in match_tasks(builder, builder.plan(step_id)):
            builder.effect(effect)


def match_tasks(builder: DecisionBuilder, plan: StepPlan) -> list[Effect]:
    """A task for each candidate that is not yet judged; a task already in flight is not started twice."""
    step = builder.flow.state.steps[plan.id]
    if step.status != "pending" or not plan.matched:
        return []
    return [
        match_task(builder, plan, each.name, index)
        for each in plan.matched
        for index in range(len(builder.flow.values(each.name)))
        if index not in step.matches.get(each.name, {})
    ]


def recover_preparing(builder: DecisionBuilder) -> None:
    """After a load: derives from the state which steps had their scripts in flight."""
    for step_id, plan in builder.flow.compiled.steps.items():
        if plan.scripted and not builder.flow.over and _ready(builder, step_id) is not None:
            builder.preparing.add(step_id)
