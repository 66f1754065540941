"""Going on: at the start, after a load, and after a decision that left something for later."""

from __future__ import annotations

from plait.kernel.effects import Effect, SetTimer

from .approvals import request_effects
from .children import child_of
from .decision_builder import DecisionBuilder
from .judging import judging_task
from .tasks import work_task
from .waits import wait_timer


def begin_all(builder: DecisionBuilder) -> None:
    builder.ready.extend(builder.run.state.executions.values())


def begin_inline(builder: DecisionBuilder) -> None:
    """Those that a decision before this one had no room for. In a fork, the others are still to begin."""
    executions = builder.run.state.executions.values()
    builder.ready.extend(each for each in executions if builder.plan(each).work == "inline" and not each.dead)


def pending_effects(builder: DecisionBuilder) -> list[Effect]:
    found: list[Effect] = []
    for execution in builder.run.state.executions.values():
        if execution.dead or execution.waiting:
            continue
        if execution.output:
            found += [judging_task(builder, execution, pointer) for pointer in _unjudged(builder, execution.id)]
        elif (task := work_task(builder, execution)) is not None:
            found.append(task)
    return found


def _unjudged(builder: DecisionBuilder, execution_id: str) -> list[str]:
    """The condition that is judged now: the first of its node without a verdict."""
    execution = builder.run.state.executions[execution_id]
    node = builder.plan(execution).ir
    places = [*([node.loop] if node.loop is not None else ()), *(node.branch.rules if node.branch is not None else ())]
    conditions = builder.run.plan.conditions
    outside = [each.pointer for each in places if conditions[each.pointer].needs_task]
    waited = [pointer for pointer in outside if pointer not in execution.verdicts]
    return waited[:1]


def under_way_again(builder: DecisionBuilder) -> list[Effect]:
    """Of a fork: timers, questions and children belong to the run whose past it has."""
    found: list[Effect] = []
    for execution in builder.run.state.executions.values():
        if execution.waiting and execution.until is not None:
            found.append(SetTimer(wait_timer(execution), execution.until))
        elif builder.plan(execution).work == "run" and not (execution.dead or execution.waiting):
            found.append(child_of(builder, builder.plan(execution), execution))
    for approval in builder.run.state.approvals.values():
        found += request_effects(builder, approval)
    return found
