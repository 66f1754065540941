"""Compensation of the items of a failed step while its run continues: newest first, one at a time.

A run that fails as a whole is compensated by the kernel; `compensations` lists what there is to compensate.
"""

from __future__ import annotations

from plait.kernel.task import Task

from .decision_builder import DecisionBuilder
from .events import CompStarted
from .flow import Flow
from .state import ItemState
from .tasks import compensation_task


def compensate_next(builder: DecisionBuilder) -> None:
    """Starts compensating the newest completed item of every failed step, unless one of the step's is in progress."""
    if builder.flow.over or not builder.flow.compiled.compensates:
        return
    for step_id, step in builder.flow.state.steps.items():
        plan = builder.plan(step_id)
        if step.status != "failed" or not plan.step.compensate:
            continue
        if any(item.status == "compensating" for item in step.items.values()):
            continue
        done = [token for token in builder.flow.state.finished if token in step.items]
        newest = next((token for token in reversed(done) if step.items[token].status == "succeeded"), None)
        if newest is not None:
            builder.record(CompStarted(step_id, newest))
            builder.effect(compensation_task(builder, plan, newest))


def owes_compensation(flow: Flow) -> bool:
    """Whether a failed step has done something that must be compensated, or may still do so."""
    return flow.compiled.compensates and any(
        flow.state.steps[step_id].status == "failed"
        and flow.compiled.steps[step_id].step.compensate
        and any(
            item.status in ("active", "succeeded", "compensating") for item in flow.state.steps[step_id].items.values()
        )
        for step_id in flow.slots
    )


def compensations(builder: DecisionBuilder) -> list[Task]:
    """Every compensation of the run, oldest first, including those done: the kernel knows which these are."""
    if not builder.flow.compiled.compensates:
        return []
    found: list[Task] = []
    # An item that was done again counts by its last completion
    for token in dict.fromkeys(reversed(builder.flow.state.finished)):
        found_work = builder.flow.done_work(token)
        if found_work is None:
            continue  # its step was restarted, in a log of an older release
        plan, item = found_work
        if plan.step.compensate and _stands(item):
            found.append(compensation_task(builder, plan, token))
    return found[::-1]


def _stands(item: ItemState) -> bool:
    return item.rolled_back or item.status in ("succeeded", "compensating")


def to_compensate(flow: Flow) -> bool:
    """Whether the kernel has something left to compensate in a failed run."""
    return (
        flow.compiled.compensates
        and flow.state.status == "failed"
        and any(
            item.status in ("succeeded", "compensating")
            for step_id in flow.slots
            if flow.compiled.steps[step_id].step.compensate
            for item in flow.state.steps[step_id].items.values()
        )
    )
