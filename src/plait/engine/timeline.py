"""Timelines: the nodes of a run as bars with their attempts; a pure function of picture and log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from plait.api.timeline import Bar, Outcome, Try
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.kernel.view import Node

RETRIED = "task.retry_scheduled"
EXHAUSTED = "task.dead_lettered"
REOPENED = "run.reopened"
_MARKS = (RETRIED, EXHAUSTED, REOPENED, "run.completed", "run.failed", "run.cancelled")


def bars(nodes: Iterable[Node], events: Iterable[Recorded], now: Millis) -> list[Bar]:
    marks = [event for event in events if event.type in _MARKS]
    return [
        Bar(
            node=node.id,
            label=node.label,
            kind=node.kind,
            status=node.status,
            parent=node.parent,
            path=node.path,
            started_at=node.started_at,
            ended_at=node.ended_at,
            tries=_tries(node, [mark for mark in marks if mark.data.get("token", node.token) == node.token], now),
        )
        for node in nodes
    ]


def _tries(node: Node, marks: Sequence[Recorded], now: Millis) -> list[Try]:
    """The tries of a node, each between two marks: of the task itself, or of a run that ended and was reopened."""
    if node.token is None or node.started_at is None:
        return []
    found: list[Try] = []
    due: Millis | None = node.started_at
    ended: Recorded | None = None
    for mark in marks:
        if mark.at < node.started_at:
            continue  # a try that was rewound
        if mark.type == REOPENED:
            # Retried, if it ended later; in the same millisecond only if it had exhausted its attempts
            if node.ended_at is None or node.ended_at - (due is not None) >= mark.at:
                found += _failed(found, due, ended)
                due = mark.at
            ended = None
        elif mark.type in (RETRIED, EXHAUSTED):
            found += _failed(found, due, mark)
            due = mark.data.get("due")
        else:
            ended = mark
    if due is None or due > (now if node.ended_at is None else node.ended_at):
        return found  # it waits for the next try, was stopped before it, or has had its last
    last = _outcome(node)
    facts = {"queued": node.queued} if node.ended_at is not None else {}
    error = node.error if last in _BAD else None
    return [*found, _try(len(found) + 1, due, facts, last, ended_at=node.ended_at, error=error)]


def _failed(before: Sequence[Try], due: Millis | None, mark: Recorded | None) -> list[Try]:
    """The try that a mark ends; none if none was in flight."""
    if due is None or mark is None:
        return []
    told = mark.data.get("error")
    error = None if told is None else msgspec.convert(told, ErrorInfo)
    outcome = "failed" if error is None else outcome_of(error)
    more = {"ended_at": mark.at, "retry_at": mark.data.get("due"), "error": error}
    return [_try(len(before) + 1, due, mark.data, outcome, **more)]


def _try(number: int, due: Millis, facts: dict[str, Any], outcome: Outcome, **more: Any) -> Try:
    queued = facts.get("queued", 0)
    return Try(
        number=number,
        started_at=Millis(due + queued),
        queued_at=due if queued else None,
        outcome=outcome,
        **more,
    )


_BAD = ("failed", "timed_out")


def _outcome(node: Node) -> Outcome:
    match node.status:
        case "completed" | "skipped":
            return "completed"
        case "cancelled":
            return "cancelled"
        case "failed" | "blocked":
            return "failed" if node.error is None else outcome_of(node.error)
        case "pending" | "running" | "waiting" | "retrying":
            return "running"


def outcome_of(error: ErrorInfo) -> Outcome:
    return "timed_out" if error.kind in ("timeout", "heartbeat") else "failed"
