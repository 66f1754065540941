"""Going on: after a load, after a failure, after a person settled a dead letter."""

from __future__ import annotations

from plait.kernel.effects import Effect, RunTask
from plait.kernel.errors import Conflict
from plait.kernel.events import RunReopened
from plait.kernel.ids import TaskToken
from plait.kernel.inputs import Resume

from .advance import NOT_NEEDED, find_preparing, match_tasks, prepare_task
from .blueprint import StepPlan
from .children import child_of
from .events import CompStarted, FlowResumed
from .folding import fold
from .tokens import UNDO
from .turn import Turn
from .undoing import undo_task
from .work import fill, item_of, shape_task, work_task


def take_up(turn: Turn) -> None:
    """It was read into memory: nothing of it is under way here."""
    if not turn.flow.over:
        find_preparing(turn)
        _fill_all(turn)


def retry(turn: Turn) -> None:
    """Goes on with a run that failed, or that is blocked because a handler was not known."""
    if turn.flow.state.status == "failed":
        _reopen(turn)
    elif not turn.flow.over:
        _fill_all(turn)


def settle(turn: Turn, resume: Resume) -> None:
    token = (resume.token or "").removeprefix(UNDO)
    found = turn.flow.find(token)
    if resume.verdict == "discard":
        return
    if found is not None and found[2].status == "compensation_failed" and not turn.flow.over:
        turn.record(CompStarted(found[0].id, token))
        turn.effect(undo_task(turn, found[0], token))
    elif found is not None and found[2].status == "failed" and turn.flow.state.status == "failed":
        _reopen(turn)
    else:
        raise Conflict(
            "kernel.dead_letter_settled",
            "the run does not wait for this task any more",
            why="it went on without it, or has ended",
            fix="discard the dead letter, or fork the run",
        )


def _reopen(turn: Turn) -> None:
    """What failed, and what was skipped because of that, is pending again, under the same tokens."""
    flow = turn.flow
    steps = flow.state.steps
    again = [
        step_id
        for step_id, step in steps.items()
        if step.status == "failed" or (step.status == "skipped" and step.reason == NOT_NEEDED)
    ]
    lost = [token for step_id in again for token, item in steps[step_id].items.items() if item.status == "failed"]
    turn.decision.reopen = "retry"
    turn.decision.retried = [TaskToken(token) for token in lost]
    fold(flow, RunReopened("retry"), turn.now)  # the kernel records it before what is decided here
    turn.record(FlowResumed(again))
    for effect in under_way(turn, recovered=False):
        turn.effect(effect)
    _fill_all(turn)
    turn.touch_all()


def _fill_all(turn: Turn) -> None:
    for step_id in list(turn.flow.crews):
        fill(turn, turn.plan(step_id))


# -- what must be under way --------------------------------------------------------------------------------------------


def under_way(turn: Turn, *, recovered: bool) -> list[Effect]:
    found: list[Effect] = [prepare_task(turn, turn.plan(step_id)) for step_id in sorted(turn.preparing)]
    for step_id, plan in turn.flow.blueprint.steps.items():
        items = turn.flow.state.steps[step_id].items
        found += match_tasks(turn, plan)
        if items and plan.step.type not in ("flow", "run"):
            found += _work(turn, plan, recovered=recovered)
        found += [shape_task(turn, plan, token) for token, item in items.items() if item.returned and item.open]
        found += [undo_task(turn, plan, token) for token, item in items.items() if item.status == "compensating"]
    return found


def _work(turn: Turn, plan: StepPlan, *, recovered: bool) -> list[RunTask]:
    step = turn.flow.state.steps[plan.id]
    recall = recovered and plan.step.http is not None and plan.step.http.recall
    found: list[RunTask] = []
    for token, item in step.items.items():
        waits = item.status == "pending" and item.retry_at is not None and step.status == "active"
        begun = item.status == "active" and not item.returned and (item.accepted_at is None or recall)
        if (waits or begun) and turn.around.hands.lacks(plan.step) is None:
            found.append(work_task(turn, plan, token))
    return found


def children_again(turn: Turn) -> list[Effect]:
    """Those of a fork: what its log has as under way belongs to the run whose past it has."""
    made = [child_of(turn, plan, item_of(turn, plan, token)) for token, plan in children(turn)]
    return [child for child in made if not isinstance(child, str)]


def children(turn: Turn) -> list[tuple[str, StepPlan]]:
    """Child runs that are not known to have ended."""
    return [
        (token, plan)
        for step_id, plan in turn.flow.blueprint.steps.items()
        if plan.step.type in ("flow", "run")
        for token, item in turn.flow.state.steps[step_id].items.items()
        if item.status == "active"
    ]
