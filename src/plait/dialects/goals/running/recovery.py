"""Going on: after a load, after a decision that left something for later."""

from __future__ import annotations

from plait.kernel.effects import Effect

from .advance import find_preparing, match_tasks, prepare_task
from .children import child_of
from .compensation import undo_task
from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder
from .work import blocked, failed, fill, give_up_strays, item_of, shape_task, work_task

INTERRUPTED = "its process died after the run had ended"


def take_up(turn: DecisionBuilder) -> None:
    """It was read into memory: nothing of it is under way here. What was when the run had its outcome already is not
    done again; an answer from elsewhere may still come."""
    if turn.flow.over:
        for token, plan in local_work(turn) if turn.flow.hears else ():
            failed(turn, plan, token, INTERRUPTED)
    else:
        find_preparing(turn)
        go_on(turn)


def go_on(turn: DecisionBuilder) -> None:
    """Looks at everything: a fork may begin in the middle of a decision, and a retry that waits leaves its slot."""
    if not turn.flow.over:
        give_up_strays(turn)
        fill_all(turn)
        turn.touch_all()


def fill_all(turn: DecisionBuilder) -> None:
    for step_id in list(turn.flow.slots_of):
        fill(turn, turn.plan(step_id))


def local_work(turn: DecisionBuilder) -> list[tuple[str, StepPlan]]:
    """Items that are worked on by this process, or were by one before it."""
    flow = turn.flow
    return [
        (token, turn.plan(step_id))
        for step_id, slots in flow.slots_of.items()
        if slots.active and turn.plan(step_id).step.type not in ("flow", "run")
        for token, item in flow.state.steps[step_id].items.items()
        if item.status == "active" and token not in flow.awaited
    ]


# -- what must be under way --------------------------------------------------------------------------------------------


def under_way(turn: DecisionBuilder, *, recovered: bool) -> list[Effect]:
    found: list[Effect] = [prepare_task(turn, turn.plan(step_id)) for step_id in sorted(turn.preparing)]
    for step_id, plan in turn.flow.compiled.steps.items():
        items = turn.flow.state.steps[step_id].items
        found += match_tasks(turn, plan)
        if items and plan.step.type not in ("flow", "run"):
            found += _work(turn, plan, recovered=recovered)
        found += [shape_task(turn, plan, token) for token, item in items.items() if item.returned and item.open]
        found += [undo_task(turn, plan, token) for token, item in items.items() if item.status == "compensating"]
    return found


def _work(turn: DecisionBuilder, plan: StepPlan, *, recovered: bool) -> list[Effect]:
    step = turn.flow.state.steps[plan.id]
    recall = recovered and plan.step.http is not None and plan.step.http.recall
    lacking = turn.around.hands.lacks(plan.step)
    found: list[Effect] = []
    for token, item in step.items.items():
        waits = item.status == "pending" and item.retry_at is not None and step.status == "active"
        begun = item.status == "active" and not item.returned and (item.accepted_at is None or recall)
        if waits or begun:
            found.append(work_task(turn, plan, token) if lacking is None else blocked(plan, lacking))
    return found


def children_again(turn: DecisionBuilder) -> list[Effect]:
    """Those of a fork: what its log has as under way belongs to the run whose past it has."""
    return [child_of(turn, plan, item_of(turn, plan, token)) for token, plan in children(turn)]


def children(turn: DecisionBuilder) -> list[tuple[str, StepPlan]]:
    """Child runs that are not known to have ended."""
    return [
        (token, plan)
        for step_id, plan in turn.flow.compiled.steps.items()
        if plan.step.type in ("flow", "run")
        for token, item in turn.flow.state.steps[step_id].items.items()
        if item.status == "active"
    ]
