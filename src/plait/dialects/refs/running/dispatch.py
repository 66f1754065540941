"""Starting ready steps: in list order, and never more tasks at once than a run may have."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.limits import IN_FLIGHT
from plait.dialects.refs.definition.plan import StepPlan
from plait.dialects.refs.references.resolve import Resolution, resolve
from plait.kernel.task_inputs import EMPTY

from .children import BadRequest, child_of, is_child
from .decision_builder import CHILDREN_AT_ONCE, DecisionBuilder
from .events import StepStarted
from .failures import error
from .results import fail_work
from .tasks import action_task

_encode = msgspec.json.Encoder().encode
_NULL = b"null"


def start_line(builder: DecisionBuilder) -> None:
    """Starts as many of the queued steps as fit."""
    run = builder.run
    while run.line and not builder.over:
        if run.in_flight >= IN_FLIGHT and builder.plan.order[run.line[0]].kind != "workflow":
            return
        if builder.children >= CHILDREN_AT_ONCE:
            builder.decision.more = True
            return
        step = run.next_in_line()
        if step.for_each is None:
            start(builder, step, None)
        elif (loop := run.loops.get(step.name)) is not None and loop.has_more:
            start(builder, step, loop.first)
            if not builder.over and step.name in run.loops:
                run.queue_loop(step)


def start(builder: DecisionBuilder, step: StepPlan, index: int | None) -> None:
    """Starts a step; its input is resolved now, once, and recorded."""
    run = builder.run
    found = resolve(step.input, run.scope_of(step, index))
    input = Raw(_encode(found.value))
    if step.kind in ("tool", "function") and bytes(input) == _NULL:
        input = EMPTY
    builder.record(StepStarted(step.name, step.kind, input, index, found.unresolved))
    why = _refusal(builder, step, found)
    if why is not None:
        fail_work(builder, step, index, why, attempts=0)
        return
    work = run.work(step.name, index)
    if is_child(step):
        _start_child(builder, step, index)
    else:
        builder.effect(action_task(builder, step, index, work))


def _refusal(builder: DecisionBuilder, step: StepPlan, found: Resolution) -> Any:
    """Why it can't be started at all."""
    if found.too_large:
        return error("too_large", "the references of its input bring in more than 16 MB")
    if step.kind in ("tool", "function") and not isinstance(found.value, dict | None):
        return error(
            "input_not_object",
            f"`{step.action.name}` takes an object; the input is {_encode(found.value)[:60].decode(errors='replace')}",
        )
    depth, most = builder.context.info.depth + 1, builder.context.limits.max_depth
    if is_child(step) and depth > most:
        return error("depth_exceeded", f"the child run would be level {depth:,} of children; the limit is {most:,}")
    return None


def _start_child(builder: DecisionBuilder, step: StepPlan, index: int | None) -> None:
    try:
        child = child_of(builder, step, index, builder.run.work(step.name, index))
    except BadRequest as problem:
        fail_work(builder, step, index, error("tool_error", str(problem)), attempts=1)
        return
    builder.children += 1
    builder.effect(child)
