"""Folds events into a flow, one by one. It decides nothing, and never fails on what was once recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel.events import (
    Event,
    RollbackStarted,
    RollbackStep,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunReopened,
    RunStarted,
    TaskRetryScheduled,
)
from plait.kernel.ids import Millis

from . import events as e
from .compiled_plan import CompiledPlan
from .fanout import PLAIN, Fan, fan_of
from .flow import Flow, Slots
from .resumption import resume
from .state import DONE, FlowState, ItemState, ItemStatus, StartData, StepState, Value, compensated_item

GOAL_FAILED, STEP_FAILED = "goals.goal_failed", "goals.step_failed"
"""The error code of an outcome; a run that failed with another was ended from outside."""

_UNDONE: dict[str, ItemStatus] = {
    "completed": "compensated",
    "failed": "compensation_failed",
    "retried": "compensating",
    "discarded": "compensation_failed",
}

_object = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode


def begun(event: RunStarted, at: Millis, compiled_plans: Mapping[int, CompiledPlan]) -> Flow:
    """The initial flow of a run; runs of one plan share the compiled plan."""
    data: Any = event.data
    start = data if isinstance(data, StartData) else msgspec.convert(data, StartData)
    init = {name: [Value(value, set_at=at)] for name, value in _object.decode(event.input).items()}
    for name, others in start.more.items():
        init.setdefault(name, []).extend(Value(Raw(_encode(value)), set_at=at) for value in others)
    state = FlowState(
        plan=start.plan,
        seed=event.seed,
        parent_step=start.parent_step,
        returns=start.returns,
        started_at=at,
        updated_at=at,
        attributes=init,
        steps={step_id: StepState() for step_id in start.plan.steps},
        seq=1,
    )
    return Flow(state, compiled_plans.get(id(start.plan)))


def fold(flow: Flow, event: Event, at: Millis) -> None:
    flow.state.seq += 1
    flow.state.updated_at = at
    change = _FOLDS.get(type(event))
    if change is not None:
        change(flow, event, at)


# -- the dialect's events --------------------------------------------------------------------------------------------


def _step_started(flow: Flow, event: e.StepStarted, at: Millis) -> None:
    step = flow.state.steps[event.step_id]
    step.status, step.started_at, step.inputs = "active", at, event.inputs
    flow.pending.discard(event.step_id)
    step.opened_seq = step.opened_seq or flow.state.seq
    step.total, step.dropped = event.total, event.dropped
    dropped, fan = set(event.dropped), _fan(flow, event) if flow.compiled.steps[event.step_id].fans else PLAIN
    places = (place for place in range(event.total) if place not in dropped)
    for place, (token, told) in zip(places, event.work_items.items(), strict=True):
        follows = event.total == 1 or _is_empty(told)
        values = {} if follows and fan is PLAIN else fan.values(place) if follows else _object.decode(told)
        step.items[token] = ItemState(values, place)
        flow.owners[token] = event.step_id
    flow.slots[event.step_id] = Slots.of(step)


def _fan(flow: Flow, event: e.StepStarted) -> Fan:
    """The fan-out of a step, where its event does not have all of it."""
    if event.total > 1 and not any(map(_is_empty, event.work_items.values())):
        return PLAIN
    return fan_of(flow.compiled.steps[event.step_id].step, _object.decode(event.inputs))


def _is_empty(told: Raw) -> bool:
    return bytes(told) == b"{}"


def _prepared(flow: Flow, event: e.StepPrepared, at: Millis) -> None:
    flow.state.steps[event.step_id].opened_seq = flow.state.seq
    if event.run and not event.error:
        flow.state.steps[event.step_id].inputs = event.inputs


def _matched(flow: Flow, event: e.InputMatched, at: Millis) -> None:
    flow.state.steps[event.step_id].matches.setdefault(event.name, {})[event.index] = event.matched


def _waited(flow: Flow, event: e.InputWaited, at: Millis) -> None:
    flow.state.steps[event.step_id].waits[event.name] = event.until


def _closed(flow: Flow, event: e.InputClosed, at: Millis) -> None:
    step = flow.state.steps[event.step_id]
    step.waits.pop(event.name, None)
    step.closed.append(event.name)


def _work_started(flow: Flow, event: e.WorkStarted, at: Millis) -> None:
    item = flow.begin_item(event.step_id, event.token)
    item.started_at = item.started_at or at
    item.retry_at = None


def _accepted(flow: Flow, event: e.WorkAccepted, at: Millis) -> None:
    item = flow.item(event.step_id, event.token)
    item.accepted_at, item.accepted = at, event.attempt
    if item.status == "active":
        flow.awaited.add(event.token)


def _returned(flow: Flow, event: e.WorkReturned, at: Millis) -> None:
    item = flow.item(event.step_id, event.token)
    item.returned, item.memo = event.outputs, event.memo


def _succeeded(flow: Flow, event: e.WorkSucceeded, at: Millis) -> None:
    item = flow.close_item(event.step_id, event.token, at)
    item.status, item.outputs, item.memo, item.error = "succeeded", event.outputs, event.memo, ""
    item.attempts = event.attempts - 1
    flow.state.finished.append(event.token)


def _failed(flow: Flow, event: e.WorkFailed, at: Millis) -> None:
    item = flow.close_item(event.step_id, event.token, at)
    item.status, item.error, item.attempts = "failed", event.error, event.attempts
    item.cause = event.cause


def _set(flow: Flow, event: e.AttributeSet, at: Millis) -> None:
    flow.state.attributes.setdefault(event.name, []).append(Value(event.value, event.provider, at))


def _completed(flow: Flow, event: e.StepCompleted, at: Millis) -> None:
    flow.end_step(event.step_id, at).status = "completed"
    flow.state.steps[event.step_id].outputs = event.outputs


def _step_failed(flow: Flow, event: e.StepFailed, at: Millis) -> None:
    step = flow.end_step(event.step_id, at)
    step.status, step.error, step.unsatisfied = "failed", event.error, event.unsatisfied
    slots = flow.slots.get(event.step_id)
    if slots is not None:  # items not yet started never will
        slots.idle.clear()
        slots.due.clear()
        for item in step.items.values():
            item.retry_at = None


def _skipped(flow: Flow, event: e.StepSkipped, at: Millis) -> None:
    step = flow.end_step(event.step_id, at)
    step.status, step.reason, step.unsatisfied = "skipped", event.reason, event.unsatisfied


def _deactivated(flow: Flow, event: e.FlowDeactivated, at: Millis) -> None:
    flow.state.deactivated_at = at


def _resumed(flow: Flow, event: e.FlowResumed, at: Millis) -> None:
    resume(flow, event)


def _forked(flow: Flow, event: e.FlowForked, at: Millis) -> None:
    for name, value in event.attributes.items():
        flow.state.attributes[name] = [Value(Raw(_encode(value)), "fork", at)]
    if event.steps:
        old = flow.state.plan
        flow.state.plan = msgspec.structs.replace(old, steps={**old.steps, **event.steps})
        flow.compiled = CompiledPlan(flow.state.plan)
    for step in flow.state.steps.values():
        for item in step.items.values():
            item.accepted_at, item.accepted = None, 0  # whoever accepted the work will answer to the other run
    flow.awaited.clear()


def _comp_started(flow: Flow, event: e.CompStarted, at: Millis) -> None:
    flow.item(event.step_id, event.token).status = "compensating"


def _comp_succeeded(flow: Flow, event: e.CompSucceeded, at: Millis) -> None:
    flow.item(event.step_id, event.token).status = "compensated"


def _comp_failed(flow: Flow, event: e.CompFailed, at: Millis) -> None:
    item = flow.item(event.step_id, event.token)
    item.status, item.error = "compensation_failed", event.error


# -- the kernel's events ----------------------------------------------------------------------------------------------


def _retry_scheduled(flow: Flow, event: TaskRetryScheduled, at: Millis) -> None:
    found = flow.find(event.token)
    if found is not None:
        plan, step, item = found
        flow.rest(plan.id, event.token, item)
        if step.ended:
            flow.strays.add(event.token)
        item.status, item.attempts, item.retry_at = "pending", event.attempt, event.due
        item.error, item.accepted_at = event.error.message, None


def _rollback_started(flow: Flow, event: RollbackStarted, at: Millis) -> None:
    if event.cause == "request":
        return
    flow.state.end_seq = flow.state.seq
    flow.state.cut = event.cause != "failure"
    flow.state.status = "cancelled" if event.cause == "cancel" else "failed"
    flow.state.error = event.error.message if event.error is not None else event.reason


def _rollback_step(flow: Flow, event: RollbackStep, at: Millis) -> None:
    found = flow.done_work(event.child or compensated_item(event.at))
    if found is None or (event.child and found[1].status not in DONE):
        return  # a child that had failed is started again in any case
    found[1].status, found[1].rolled_back = _UNDONE[event.status], True


def _run_completed(flow: Flow, event: RunCompleted, at: Millis) -> None:
    _over(flow, "completed", "", at)


def _run_failed(flow: Flow, event: RunFailed, at: Millis) -> None:
    flow.state.cut = event.error.code != GOAL_FAILED
    _over(flow, "failed", event.error.message, at)


def _run_cancelled(flow: Flow, event: RunCancelled, at: Millis) -> None:
    flow.state.cut = True
    _over(flow, "cancelled", event.reason, at)


def _over(flow: Flow, status: Any, error: str, at: Millis) -> None:
    state = flow.state
    state.status, state.error, state.ended_at = status, error, at
    state.outlived = flow.active > 0 and not state.cut
    state.end_seq = state.end_seq or state.seq


def _reopened(flow: Flow, event: RunReopened, at: Millis) -> None:
    if event.cause != "compensate":
        state = flow.state
        state.status, state.error, state.ended_at, state.deactivated_at = "active", "", None, None
        state.outlived, state.end_seq = False, 0


_FOLDS: dict[type[Event], Callable[[Flow, Any, Millis], None]] = {
    e.StepPrepared: _prepared,
    e.InputMatched: _matched,
    e.InputWaited: _waited,
    e.InputClosed: _closed,
    e.StepStarted: _step_started,
    e.WorkStarted: _work_started,
    e.WorkAccepted: _accepted,
    e.WorkReturned: _returned,
    e.WorkSucceeded: _succeeded,
    e.WorkFailed: _failed,
    e.AttributeSet: _set,
    e.StepCompleted: _completed,
    e.StepFailed: _step_failed,
    e.StepSkipped: _skipped,
    e.FlowDeactivated: _deactivated,
    e.FlowResumed: _resumed,
    e.FlowForked: _forked,
    e.CompStarted: _comp_started,
    e.CompSucceeded: _comp_succeeded,
    e.CompFailed: _comp_failed,
    TaskRetryScheduled: _retry_scheduled,
    RollbackStarted: _rollback_started,
    RollbackStep: _rollback_step,
    RunCompleted: _run_completed,
    RunFailed: _run_failed,
    RunCancelled: _run_cancelled,
    RunReopened: _reopened,
}
