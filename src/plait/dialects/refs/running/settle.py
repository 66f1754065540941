"""Steps that are settled without any work: preset, skipped, returned, or without items. Others are queued."""

from __future__ import annotations

import heapq

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.condition import Condition
from plait.dialects.refs.definition.limits import MAX_ITEMS
from plait.dialects.refs.definition.plan import StepPlan
from plait.dialects.refs.references.resolve import resolve
from plait.kernel.errors import ErrorInfo

from .decision_builder import DecisionBuilder
from .dispatch import start_line
from .ending import complete_all, end, fail_run
from .events import ForeachOpened, StepCompleted, StepFailed, StepSkipped, StepStarted
from .failures import error, of_run
from .results import finish_loop

_encode = msgspec.json.Encoder().encode


def advance(builder: DecisionBuilder) -> None:
    """Settles and starts steps until nothing changes; then ends the run if it is done."""
    run = builder.run
    while not builder.over:
        settle_ready(builder)
        start_line(builder)
        if not run.ready:
            break
    if not builder.over and not run.unsettled:
        complete_all(builder)
    elif not (builder.over or run.in_flight or run.line or any(run.under_way())):
        _fail_by_what_failed(builder)


def _fail_by_what_failed(builder: DecisionBuilder) -> None:
    """Fails the run if nothing runs and nothing can, because a failed step blocks the others: in a fork cut just after
    the failure, or when only one of two dead letters is retried."""
    for step in builder.plan.order:
        work = builder.run.work(step.name)
        if work.status == "failed" and step.on_error == "fail" and work.error is not None:
            fail_run(builder, of_run(step.name, work.error, work.attempts))
            return


def settle_ready(builder: DecisionBuilder) -> None:
    """Settles ready steps in list order, including those that become ready meanwhile."""
    run = builder.run
    while run.ready and not builder.over:
        step = builder.plan.order[heapq.heappop(run.ready)]
        if run.work(step.name).status == "waiting":
            _settle(builder, step)


def _settle(builder: DecisionBuilder, step: StepPlan) -> None:
    presets = builder.plan.presets
    if presets is not None and step.name in presets:
        builder.record(StepCompleted(step.name, Raw(_encode(presets[step.name])), attempts=0, preset=True))
        return
    if step.when is not None:
        met, value = step.when.judge(builder.run.scope())
        if not met:
            builder.record(StepSkipped(step.name, _written(step.when), Raw(_encode(value))))
            return
    if step.kind == "return":
        _return(builder, step)
    elif step.for_each is not None:
        _open_loop(builder, step)
    else:
        builder.run.enqueue(step)


def _written(condition: Condition) -> Raw:
    fields = {"ref": condition.ref.text}
    if condition.operator is not None:
        fields[condition.operator] = condition.operand
    return Raw(_encode(fields))


def _return(builder: DecisionBuilder, step: StepPlan) -> None:
    found = resolve(step.input, builder.run.scope())
    if found.too_large:
        _fail(builder, step, error("too_large", "the references of its input bring in more than 16 MB"))
        return
    output = Raw(_encode(found.value))
    builder.record(StepStarted(step.name, "return", output, unresolved=found.unresolved))
    builder.record(StepCompleted(step.name, output))
    end(builder, "return", output, step.name)


def _open_loop(builder: DecisionBuilder, step: StepPlan) -> None:
    assert step.for_each is not None
    items = builder.run.items(step)
    if items is None:
        _fail(builder, step, error("bad_foreach", f"forEach ref did not resolve to an array: {step.for_each.ref.text}"))
    elif len(items) > MAX_ITEMS:
        _fail(builder, step, error("too_large", f"forEach has {len(items):,} items; the limit is {MAX_ITEMS:,}"))
    else:
        builder.record(ForeachOpened(step.name, len(items), step.for_each.concurrency))
        if items:
            builder.run.queue_loop(step)
        else:
            finish_loop(builder, step)


def _fail(builder: DecisionBuilder, step: StepPlan, why: ErrorInfo) -> None:
    """Fails the step as a whole: `onError` for iterations does not apply."""
    builder.record(StepFailed(step.name, why, attempts=0))
    if step.config.on_error != "continue":
        fail_run(builder, of_run(step.name, why))
