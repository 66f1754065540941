"""What follows when something has changed: steps that can't or need not run end, the outcome, and the steps that start.

Always in this order, and in the order of the steps' ids: (1) until nothing changes, pending steps with a lost input
fail and those nobody needs are skipped; (2) the outcome; (3) every ready step starts, all judged on the same state; and
again from 1, since a step that ended or has all its inputs now may leave others without use. Only steps that a recorded
event may have touched are looked at: when nothing is touched any more, looking at all of them would find nothing.
"""

from __future__ import annotations

from plait.dialects.goals import limits
from plait.kernel.effects import Effect, SetTimer
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.task import CALL, Policy, Task

from . import outcome
from .compensation import undo_next
from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder
from .events import InputWaited, StepFailed, StepSkipped
from .gathering import by_inner_name, gathered_inputs
from .input_resolution import standing, still_wants
from .outcome import NOT_MATCHED
from .state import StepState
from .tokens import PREPARE, match_token, wait_token
from .work import start_work

NOT_NEEDED = "outputs not needed"

LOST = "required input no longer available"


def advance(turn: DecisionBuilder) -> None:
    while not turn.flow.over:
        candidates = _end_hopeless(turn)
        if outcome.decide(turn):
            return
        _judge_matches(turn, candidates)
        before = turn.flow.unended
        for plan in [plan for step_id in sorted(candidates) if (plan := _ready(turn, step_id)) is not None]:
            _start(turn, plan)
        if not turn.touched and turn.flow.unended == before:
            break
    undo_next(turn)


# -- 1: what can't or need not run -------------------------------------------------------------------------------------


def _end_hopeless(turn: DecisionBuilder) -> set[str]:
    """Returns the pending steps that were looked at."""
    seen: set[str] = set()
    steps = turn.flow.state.steps
    while turn.touched:
        todo = sorted(step_id for step_id in turn.touched if steps[step_id].status == "pending")
        turn.touched = set()
        seen.update(todo)
        for step_id in todo:
            _end_if_hopeless(turn, turn.plan(step_id))
    return seen


def _end_if_hopeless(turn: DecisionBuilder, plan: StepPlan) -> None:
    step = turn.flow.state.steps[plan.id]
    stands = {each.name: standing(turn.flow, step, each) for each in plan.required}
    if lost := [name for name, stand in stands.items() if stand == "lost"]:
        turn.record(StepFailed(plan.id, LOST, lost))
    elif unmatched := [name for name, stand in stands.items() if stand == "unmatched"]:
        turn.record(StepSkipped(plan.id, NOT_MATCHED, unmatched))
    elif refused := [name for name, stand in stands.items() if stand == "refused"]:
        turn.record(StepSkipped(plan.id, f"input '{refused[0]}' has a value, and none is wanted", refused))
    elif not needed(turn, plan, now=False):
        turn.record(StepSkipped(plan.id, NOT_NEEDED))


def needed(turn: DecisionBuilder, plan: StepPlan, *, now: bool) -> bool:
    """A goal, or a pending step can still use one of its outputs. `now`: not only if that step's matches go well."""
    if plan.goal:
        return True
    flow, steps = turn.flow, turn.flow.state.steps
    return any(
        steps[consumer].status == "pending"
        and consumer not in turn.preparing
        and still_wants(flow, turn.plan(consumer), steps[consumer], name, now=now)
        for name in plan.outputs
        for consumer in flow.compiled.consumers[name]
    )


# -- 3: what can start -------------------------------------------------------------------------------------------------


def _ready(turn: DecisionBuilder, step_id: str) -> StepPlan | None:
    """The step, if it can start now. Looks at optional inputs last: waiting for them begins when all else is there."""
    step = turn.flow.state.steps[step_id]
    if step.status != "pending" or step_id in turn.preparing:
        return None
    plan = turn.plan(step_id)
    if any(standing(turn.flow, step, each) != "resolved" for each in plan.required):
        return None
    if not needed(turn, plan, now=True) or _waits(turn, plan, step):
        return None
    return plan


def _waits(turn: DecisionBuilder, plan: StepPlan, step: StepState) -> bool:
    """Whether an optional input is still waited for."""
    found = False
    for each in plan.optional:
        if each.deadline == 0 or each.name in step.closed or standing(turn.flow, step, each) != "open":
            continue
        found = True
        if each.deadline > 0 and each.name not in step.waits:
            until = Millis(turn.now + each.deadline)
            turn.record(InputWaited(plan.id, each.name, until))
            turn.effect(SetTimer(wait_token(plan.id, each.name), until))
    return found


def _start(turn: DecisionBuilder, plan: StepPlan) -> None:
    if plan.scripted:
        turn.preparing.add(plan.id)
        turn.touch_providers(plan.id)
        turn.effect(prepare_task(turn, plan))
    else:
        inputs = gathered_inputs(turn.flow, plan, turn.around.info)
        start_work(turn, plan, by_inner_name(plan, inputs))


def prepare_task(turn: DecisionBuilder, plan: StepPlan) -> Task:
    """The scripts before a step: no script runs inside a decision."""
    info = turn.around.info
    hand = turn.around.hands.prepare(info, plan.step, gathered_inputs(turn.flow, plan, info))
    token = TaskToken(PREPARE + plan.id)
    return Task(
        token,
        f"scripts before {plan.id}",
        CALL,
        hand,
        Policy(timeout=limits.PREPARE_TIMEOUT / 1000),
        token,
        plan.id,
    )


# -- matches -----------------------------------------------------------------------------------------------------------


def _judge_matches(turn: DecisionBuilder, candidates: set[str]) -> None:
    if turn.flow.compiled.matches:
        for step_id in sorted(candidates):
            for effect in match_tasks(turn, turn.plan(step_id)):
                turn.effect(effect)


def match_tasks(turn: DecisionBuilder, plan: StepPlan) -> list[Effect]:
    """One for each candidate that nobody has judged; one that is under way already is not started twice."""
    step = turn.flow.state.steps[plan.id]
    if step.status != "pending" or not plan.matched:
        return []
    return [
        _match_task(turn, plan, each.name, index)
        for each in plan.matched
        for index in range(len(turn.flow.values(each.name)))
        if index not in step.matches.get(each.name, {})
    ]


def _match_task(turn: DecisionBuilder, plan: StepPlan, name: str, index: int) -> Task:
    value = turn.flow.values(name)[index].value
    hand = turn.around.hands.match(turn.around.info, plan.step, name, value)
    label = f"match of '{name}' for {plan.id}"
    token = match_token(plan.id, name, index)
    return Task(token, label, CALL, hand, Policy(), token, plan.id)


def find_preparing(turn: DecisionBuilder) -> None:
    """After a load: which steps had their scripts at work follows from the state."""
    for step_id, plan in turn.flow.compiled.steps.items():
        if plan.scripted and not turn.flow.over and _ready(turn, step_id) is not None:
            turn.preparing.add(step_id)
