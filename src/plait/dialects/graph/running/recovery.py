"""Continuing a run: at the start, after a load, and after a decision that left work for later."""

from __future__ import annotations

from plait.kernel.effects import Effect, SetTimer

from .accepted import awaiting
from .approvals import request_effects
from .children import child_task
from .decision_builder import DecisionBuilder
from .judging import judging_task
from .opa import unasked
from .settle import unjudged
from .tasks import work_task
from .throttling import throttle_timer
from .waits import wait_timer


def begin_all(builder: DecisionBuilder) -> None:
    builder.ready.extend(builder.run.state.executions.values())


def begin_inline(builder: DecisionBuilder) -> None:
    """Queues the inline nodes that a previous decision had no room for."""
    executions = builder.run.state.executions.values()
    builder.ready.extend(
        each for each in executions if builder.plan(each).work == "inline" and not (each.dead or each.waiting)
    )


def untouched_fork(builder: DecisionBuilder) -> bool:
    """Whether nothing has happened to a fork yet. It may be loaded before it is told that it is a fork, and executions
    in its state may not have started here: they were not approved, or are not due."""
    state = builder.run.state
    return state.fork_seq == state.seq


def begin_forked(builder: DecisionBuilder) -> None:
    """Queues executions that were in flight or just reached. Work that is to be retried is dispatched in any case."""
    for each in builder.run.state.executions.values():
        if each.dead or each.waiting or each.output or each.accepted:
            continue
        if not (each.retrying if builder.plan(each).work == "run" else each.attempts):
            builder.ready.append(each)


def pending_effects(builder: DecisionBuilder) -> list[Effect]:
    found: list[Effect] = []
    builder.told = True
    for execution in builder.run.state.executions.values():
        if execution.dead or execution.waiting:
            continue
        if execution.accepted:
            found.append(awaiting(builder, execution))
        elif execution.output:
            pointer = unjudged(builder, execution)
            found += [] if pointer is None else [judging_task(builder, execution, pointer)]
        elif builder.plan(execution).work == "human":
            pointer = unasked(builder, builder.plan(execution), execution)
            found += [] if pointer is None else [judging_task(builder, execution, pointer)]
        elif builder.plan(execution).work == "run":
            found += [child_task(builder, execution)] if execution.retrying else []
        elif (task := work_task(builder, execution)) is not None:
            found.append(task)
    return found


def under_way_again(builder: DecisionBuilder) -> list[Effect]:
    """The timers and approvals of a fork: those in its log belong to the original run."""
    found: list[Effect] = []
    for execution in builder.run.state.executions.values():
        if execution.held:
            found.append(throttle_timer(execution))
        elif execution.waiting and execution.until is not None:
            found.append(SetTimer(wait_timer(execution), execution.until))
    for approval in builder.run.state.approvals.values():
        found += request_effects(builder, approval)
    return found
