"""Undoing the items of a step that failed, while its run goes on: newest first, one after the other.

A run that fails as a whole is undone by the kernel; `compensations` tells it what there is.
"""

from __future__ import annotations

from plait.kernel.errors import ErrorInfo
from plait.kernel.task import CALL, Policy, Task

from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder
from .events import CompStarted
from .flow import Flow
from .state import ItemState
from .tokens import undo_token
from .work import item_of


def undo_next(turn: DecisionBuilder) -> None:
    """For every failed step that can undo: the newest item that succeeded, if none is being undone."""
    if turn.flow.over or not turn.flow.compiled.undoes:
        return
    for step_id, step in turn.flow.state.steps.items():
        plan = turn.plan(step_id)
        if step.status != "failed" or not plan.step.compensate:
            continue
        if any(item.status == "compensating" for item in step.items.values()):
            continue
        done = [token for token in turn.flow.state.finished if token in step.items]
        newest = next((token for token in reversed(done) if step.items[token].status == "succeeded"), None)
        if newest is not None:
            turn.record(CompStarted(step_id, newest))
            turn.effect(undo_task(turn, plan, newest))


def owes(flow: Flow) -> bool:
    """Whether a step that failed has done something that is to be undone, or may still do so."""
    return flow.compiled.undoes and any(
        flow.state.steps[step_id].status == "failed"
        and flow.compiled.steps[step_id].step.compensate
        and any(
            item.status in ("active", "succeeded", "compensating") for item in flow.state.steps[step_id].items.values()
        )
        for step_id in flow.slots_of
    )


def undo_task(turn: DecisionBuilder, plan: StepPlan, token: str) -> Task:
    state = turn.flow.item(plan.id, token)
    hand = turn.around.hands.undo(item_of(turn, plan, token), state.outputs)
    undo = undo_token(token, state.round)
    task = Task(undo, f"undo of {plan.id}", CALL, hand, Policy(plan.retry), undo, plan.id)
    if (lacking := turn.around.hands.lacks_undo(plan.step)) is not None:
        task.unbound = ErrorInfo("goals.no_handler", f"step '{plan.id}': {lacking}", kind="blocked")
    return task


def compensations(turn: DecisionBuilder) -> list[Task]:
    """All that can be undone, oldest first, and what was when the run was: the kernel knows which these are."""
    found: list[Task] = []
    for token in dict.fromkeys(reversed(turn.flow.state.finished)):  # one that was done again counts by its last time
        plan, _, item = turn.flow.at(token)
        if plan.step.compensate and _stands(item):
            found.append(undo_task(turn, plan, token))
    return found[::-1]


def _stands(item: ItemState) -> bool:
    return item.rolled_back or item.status in ("succeeded", "compensating")


def to_undo(flow: Flow) -> bool:
    """Whether the kernel has something left to undo in a run that failed."""
    return (
        flow.compiled.undoes
        and flow.state.status == "failed"
        and any(
            item.status in ("succeeded", "compensating")
            for step_id in flow.slots_of
            if flow.compiled.steps[step_id].step.compensate
            for item in flow.state.steps[step_id].items.values()
        )
    )
