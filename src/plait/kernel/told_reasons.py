"""Progress or wait reasons reported by attempts, shown instead of "running"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .journal import ApprovalWait, ChildWait, Journal, TimeWait
from .tasks import TaskBook
from .view import Reason

UNDER_WAY: Final = ("step", "task")
"""Kinds of reasons that only mean that a task is in flight; for a parked run, on a queue."""


def told_reasons(reasons: Sequence[Reason], tasks: TaskBook) -> list[Reason]:
    journals = tasks.told()
    if not journals:
        return list(reasons)
    return [_told(reason, journals.get(reason.node or "")) for reason in reasons]


def _told(reason: Reason, journal: Journal | None) -> Reason:
    if journal is None or reason.kind not in UNDER_WAY or not journal.says:
        return reason
    match journal.wait:
        case ApprovalWait(due=due):
            return Reason("approval", journal.says, reason.node, due, journal.says)
        case ChildWait():
            return Reason("child", journal.says, reason.node, short=journal.says)
        case TimeWait(due=due):
            return Reason("sleep", journal.says, reason.node, due, journal.says.partition(" until ")[0])
        case None:
            return Reason(reason.kind, journal.says, reason.node, reason.until, reason.short)
