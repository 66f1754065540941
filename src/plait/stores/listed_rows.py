"""Rows as lists show them: a damaged one is marked, and the others are shown all the same."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from plait.kernel.approval import Approval
from plait.kernel.errors import Damaged
from plait.kernel.failures import describe
from plait.kernel.ids import Millis, RunId, TaskToken, shard_of
from plait.kernel.store import DeadLetter, Line, RunRow, TimerRow

from .columns import Row
from .rows import (
    APPROVAL_STATUSES,
    LETTER_STATUSES,
    STATUSES,
    approval,
    dead_letter,
    line,
    run_row,
    timer_row,
)

log = logging.getLogger("plait.store")


def listed_run(row: Row) -> RunRow:
    """A run; a damaged one is shown as blocked."""
    try:
        return run_row(row)
    except Damaged as error:
        return RunRow(
            id=_run_id(row[0]),
            namespace=str(row[1]),
            dialect=str(row[2]),
            definition=str(row[3]),
            shard=shard_of(_run_id(row[0])),
            status=row[6] if row[6] in STATUSES else "running",
            created_at=_moment(row[13]) or Millis(0),
            ended_at=_moment(row[14]),
            blocked=describe(error, kind="blocked"),
        )


def readable_runs(found: Iterable[Row]) -> list[Row]:
    """The rows without damaged ones, which are logged."""
    readable: list[Row] = []
    for row in found:
        try:
            run_row(row)
            readable.append(row)
        except Damaged as error:
            log.error("a run is left alone: %s", error)
    return readable


def listed_approval(row: Row) -> Approval:
    """An approval; the title of a damaged one says so. Nobody can decide it: reading it alone raises."""
    try:
        return approval(row)
    except Damaged as error:
        return Approval(
            id=str(row[0]),
            run_id=_run_id(row[1]),
            namespace=str(row[2]),
            token=TaskToken(str(row[3])),
            title=error.text,
            by="",
            asked_at=_moment(row[6]) or Millis(0),
            status=row[14] if row[14] in APPROVAL_STATUSES else "open",
        )


def listed_dead_letter(row: Row) -> DeadLetter:
    """A dead letter; a damaged one has the damage as its error."""
    try:
        return dead_letter(row)
    except Damaged as error:
        id, run_id, namespace, token, label, _, _, at, status = row
        when = _moment(at) or Millis(0)
        info = describe(error, kind="damaged")
        return DeadLetter(
            str(id),
            _run_id(run_id),
            str(namespace),
            TaskToken(str(token)),
            str(label),
            0,
            info,
            when,
            status if status in LETTER_STATUSES else "pending",
        )


def listed_line(row: Row) -> Line:
    """A log line; a damaged one is replaced by the error."""
    try:
        return line(row)
    except Damaged as error:
        at = _moment(row[3]) or Millis(0)
        return Line(_run_id(row[0]), str(row[1]), 0, at, "error", error.text, row[6])


def readable_timers(found: Iterable[Row]) -> list[TimerRow]:
    """The timers without damaged ones, which are logged: one that can't be fired blocks no other."""
    readable: list[TimerRow] = []
    for row in found:
        try:
            readable.append(timer_row(row))
        except Damaged as error:
            log.error("a timer is left alone: %s", error)
    return readable


def _run_id(column: object) -> RunId:
    return RunId(str(column))


def _moment(column: object) -> Millis | None:
    return Millis(column) if isinstance(column, int) else None
