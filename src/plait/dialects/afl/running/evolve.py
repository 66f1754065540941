"""Folds events into a run, one by one. It decides nothing, and never fails on what was once recorded."""

from __future__ import annotations

from collections.abc import Callable
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
)
from plait.kernel.ids import Millis

from . import events as e
from .compensation_tokens import compensated
from .state import AflStart, AflState, StepRecord
from .states import CATCH_BEGIN, ERROR, EVENT_TRANSMIT, TERMINAL

_HEARD = 100
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def begun(event: RunStarted) -> AflState:
    """The initial state of a run."""
    data: Any = event.data
    start = data if isinstance(data, AflStart) else _recorded(data)
    return AflState(start, event.input, deadline=event.deadline, seq=1)


def _recorded(data: dict[str, Any]) -> AflStart:
    return msgspec.convert({**data, "compiled": Raw(_encode(data["compiled"]))}, AflStart)


def hear(state: AflState, message: str) -> None:
    if message:
        state.heard.append(message)
        del state.heard[:-_HEARD]


def fold(state: AflState, event: Event, at: Millis) -> None:
    state.seq += 1
    change = _FOLDS.get(type(event))
    if change is not None:
        change(state, event, at)


def _started(state: AflState, event: e.AflStarted, at: Millis) -> None:
    state.started = True


def _created(state: AflState, event: e.StepCreated, at: Millis) -> None:
    state.steps[event.step.id] = event.step


def _moved(state: AflState, event: e.StepMoved, at: Millis) -> None:
    step = state.steps[event.step_id]
    step.state = event.to
    if event.params:
        step.params.update(_decode(event.params))
    if event.returns:
        step.returns.update(_decode(event.returns))
    step.dependencies.extend(event.dependencies)
    if event.to in TERMINAL:
        step.ended_at, step.ended_in = at, state.iteration + 1


def _failed(state: AflState, event: e.StepFailed, at: Millis) -> None:
    step = state.steps[event.step_id]
    step.state, step.error, step.failed_in = ERROR, event.error, event.state
    step.ended_at, step.ended_in = at, state.iteration + 1


def _caught(state: AflState, event: e.StepCaught, at: Millis) -> None:
    step = state.steps[event.step_id]
    step.caught += 1
    step.state, step.failed_in = CATCH_BEGIN, event.state


def _reopened(state: AflState, event: e.StepReopened, at: Millis) -> None:
    reopen_step(state.steps[event.step_id], event.state)


def reopen_step(step: StepRecord, to: str) -> None:
    step.generation += to == EVENT_TRANSMIT
    step.state, step.error, step.failed_in, step.ended_at, step.ended_in = to, None, "", None, 0


def _updated(state: AflState, event: e.StepUpdated, at: Millis) -> None:
    state.steps[event.step_id].returns.update(_decode(event.returns))
    hear(state, event.message)


def _ignored(state: AflState, event: e.ContinueIgnored, at: Millis) -> None:
    hear(state, event.message)


def _judged(state: AflState, event: e.WhenEvaluated, at: Millis) -> None:
    state.steps[event.step_id].cases = event.cases


def _sys(state: AflState, event: e.SysDone, at: Millis) -> None:
    state.steps[event.step_id].sys.append(event.statement_id)


def _warned(state: AflState, event: e.Warned, at: Millis) -> None:
    state.warnings.append(event.text)


def _event_created(state: AflState, event: e.EventCreated, at: Millis) -> None:
    state.events[event.event.event_id] = event.event
    event.event.opened = state.seq


def _event_completed(state: AflState, event: e.EventCompleted, at: Millis) -> None:
    found = state.events[event.event_id]
    found.state, found.attempt, found.result, found.ended_at = "event.Completed", event.attempt, event.result, at
    found.closed = state.seq
    state.done.append(event.event_id)
    state.given.pop(event.event_id, None)
    hear(state, event.message)


def _event_failed(state: AflState, event: e.EventFailed, at: Millis) -> None:
    found = state.events[event.event_id]
    found.state, found.attempt, found.error, found.ended_at = "event.Error", event.attempt, event.error, at
    found.closed = state.seq


def _iteration(state: AflState, event: e.IterationEnded, at: Millis) -> None:
    state.iteration, state.again, state.paused = event.n, event.again, event.paused
    state.pauses += event.paused
    state.iterations_at.append(state.seq)


def _withdrawn(state: AflState, event: e.EventWithdrawn, at: Millis) -> None:
    found = state.events[event.event_id]
    found.state, found.ended_at = "event.Withdrawn", at
    found.closed = state.seq


def _forked(state: AflState, event: e.AflForked, at: Millis) -> None:
    state.given = event.results
    state.status, state.error, state.end_seq = "running", None, 0
    if event.input:
        state.input = event.input


# -- the kernel's events -----------------------------------------------------------------------------------------------


def _rolling_back(state: AflState, event: RollbackStarted, at: Millis) -> None:
    if event.cause != "request":
        _over(state, "cancelled" if event.cause == "cancel" else "failed")
        state.error = event.error


def _rolled_back(state: AflState, event: RollbackStep, at: Millis) -> None:
    found = (event.child or compensated(event.at)) if event.status == "completed" else None
    if found is not None and found not in state.undone:
        state.undone.append(found)


def _run_completed(state: AflState, event: RunCompleted, at: Millis) -> None:
    _over(state, "completed")


def _run_failed(state: AflState, event: RunFailed, at: Millis) -> None:
    _over(state, "failed")
    state.error = event.error


def _run_cancelled(state: AflState, event: RunCancelled, at: Millis) -> None:
    _over(state, "cancelled")


def _over(state: AflState, status: Any) -> None:
    if state.status == "running":
        state.end_seq = state.seq
    state.status, state.again, state.paused = status, False, False


def _run_reopened(state: AflState, event: RunReopened, at: Millis) -> None:
    if event.cause == "retry":
        state.status, state.error, state.end_seq = "running", None, 0


_FOLDS: dict[type[Event], Callable[[AflState, Any, Millis], None]] = {
    e.AflStarted: _started,
    e.StepCreated: _created,
    e.StepMoved: _moved,
    e.StepFailed: _failed,
    e.StepCaught: _caught,
    e.StepReopened: _reopened,
    e.StepUpdated: _updated,
    e.ContinueIgnored: _ignored,
    e.WhenEvaluated: _judged,
    e.SysDone: _sys,
    e.Warned: _warned,
    e.EventCreated: _event_created,
    e.EventCompleted: _event_completed,
    e.EventFailed: _event_failed,
    e.EventWithdrawn: _withdrawn,
    e.IterationEnded: _iteration,
    e.AflForked: _forked,
    RollbackStarted: _rolling_back,
    RollbackStep: _rolled_back,
    RunCompleted: _run_completed,
    RunFailed: _run_failed,
    RunCancelled: _run_cancelled,
    RunReopened: _run_reopened,
}
