"""Why a parked run waits, in a few words: kept in its row when it parks, so that lists need not load it."""

from __future__ import annotations

from .ids import Millis
from .machine import Machine
from .state import RunState
from .view import Reason

UNDER_WAY = ("step", "task")
"""Kinds of reasons that only say that a task is under way: of a parked run, on a queue."""

_ORDER = (
    "stuck",
    "handler",
    "approval",
    "message",
    "callback",
    "retry",
    *UNDER_WAY,
    "sleep",
    "child",
    "slot",
    "script",
    "input",
)
"""What people can do something about comes first."""


def wait_reason(machine: Machine, state: RunState) -> Reason | None:
    if state.rolling_back:
        return Reason("rollback", "compensation", until=_next_retry(state))
    reasons = machine.waiting(state.tasks.facts())
    if not reasons:
        return None
    first = min(reasons, key=_rank)
    if first.kind in UNDER_WAY:
        # Without its name: a run of many such steps has one row to write, not one for each
        return Reason("queue", f"queue `{queue}`") if (queue := _queue(state)) is not None else None
    return Reason(first.kind, first.short or first.text, until=first.until)


def _rank(reason: Reason) -> int:
    return _ORDER.index(reason.kind) if reason.kind in _ORDER else len(_ORDER)


def _queue(state: RunState) -> str | None:
    tasks = (state.tasks.get(token) for token in state.tasks)
    return next((each.task.queue for each in tasks if each is not None and each.task.queue is not None), None)


def _next_retry(state: RunState) -> Millis | None:
    return min((task.retry_at for task in state.tasks.facts().values() if task.retry_at is not None), default=None)
