"""Why a parked run waits, in a few words: stored in its row when it parks, so that lists need not load it."""

from __future__ import annotations

from .ids import Millis
from .machine import Machine
from .state import RunState
from .told_reasons import UNDER_WAY, told_reasons
from .unit_of_work import UnitOfWork
from .view import Reason

_MANY = 32
"""Fewer tasks than this are checked each time."""

STALLED_KINDS = ("stuck", "join")
"""Kinds of reasons that only end if something else happens: alone, they mean that the run is stalled."""

_ORDER = (
    "stuck",
    "handler",
    "approval",
    "dead_letter",
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
"""Reasons that people can act on come first."""


def wait_reason(machine: Machine, state: RunState, before: Reason | None, unit: UnitOfWork) -> Reason | None:
    """The wait reason of a run; `before`: its reason before this decision."""
    if before is not None and before.kind == "queue" and _only_results(state, unit) and before == _on_queue(state):
        return before
    if state.rolling_back:
        return Reason("rollback", "compensation", until=_next_retry(state))
    reasons = told_reasons(machine.waiting(state.tasks.facts()), state.tasks)
    if not reasons:
        return None
    first = min(reasons, key=_rank)
    if first.kind in UNDER_WAY:
        # Without the task's name: a run of many such steps writes its row once, not once for each
        return _on_queue(state)
    return Reason(first.kind, first.short or first.text, until=first.until)


def _rank(reason: Reason) -> int:
    return _ORDER.index(reason.kind) if reason.kind in _ORDER else len(_ORDER)


def _only_results(state: RunState, unit: UnitOfWork) -> bool:
    """Whether each input ended something and nothing started: the tasks only became fewer. So a thousand results of a
    run need not check a thousand tasks each."""
    events = unit.events
    if len(state.tasks) < _MANY or not events or len(events) != len(unit.write.taken) or unit.write.timers:
        return False
    return all(type(event) is type(events[0]) for event in events)


def _on_queue(state: RunState) -> Reason | None:
    tasks = (state.tasks.get(token) for token in state.tasks)
    queue = next((each.task.queue for each in tasks if each is not None and each.task.queue is not None), None)
    return None if queue is None else Reason("queue", f"queue `{queue}`")


def _next_retry(state: RunState) -> Millis | None:
    return min((task.retry_at for task in state.tasks.facts().values() if task.retry_at is not None), default=None)
