"""A run's row as JSON and in words."""

from __future__ import annotations

from typing import Any

from plait.kernel.cause import cause_of
from plait.kernel.ids import Millis, caller_id
from plait.kernel.past import NO_PAST
from plait.kernel.store import RunRow

from . import words
from .output import document


def status_of(row: RunRow) -> str:
    """Returns the status, or `waiting` or `blocked`, which people expect to be statuses."""
    return row.status if row.phase == "ended" else row.phase


def cause_words(row: RunRow) -> str | None:
    """Returns why it failed: the root cause, in a sentence."""
    return cause_of(row.error).text if row.status == "failed" and row.error is not None else None


def note_of(row: RunRow) -> str:
    """Returns the note on a run in lists: why it failed, or what it waits for."""
    if row.erased_at is not None:
        return "erased"
    if row.phase == "waiting" and row.waiting is not None:
        return words.wait(row.waiting)
    if row.blocked is not None:
        return row.blocked.message
    if row.past is not None and row.past.partial:
        return "partial success: some steps failed"
    return cause_words(row) or ""


def name_of(row: RunRow) -> str:
    return row.definition if row.version is None else f"{row.definition}@{row.version}"


def run_document(row: RunRow, **more: Any) -> dict[str, Any]:
    """Makes a run's JSON document. Times are in milliseconds, UTC."""
    return document(
        id=caller_id(row.id),
        namespace=row.namespace,
        dialect=row.dialect,
        definition=row.definition,
        version=row.version,
        status=row.status,
        blocked=row.blocked,
        labels=row.labels or None,
        parent=caller_id(row.parent) if row.parent is not None else None,
        created_at=row.created_at,
        ended_at=row.ended_at,
        erased_at=row.erased_at,
        deadline=row.deadline,
        error=row.error,
        phase=row.phase,
        waiting_for=row.waiting if row.phase == "waiting" else None,
        cause=cause_of(row.error) if row.status == "failed" and row.error is not None else None,
        forked_from=caller_id(row.past.source) if row.past is not None and row.past.source is not None else None,
        reopened=row.past.reopened or None if row.past is not None else None,
        partial=row.past.partial or None if row.past is not None else None,
        agents=row.past.agents if row.past is not None else None,
        **more,
    )


def took(row: RunRow, now: Millis) -> int:
    """Returns how long it ran in milliseconds, without the time that it spent ended before it was reopened."""
    return (row.ended_at or now) - row.created_at - (row.past or NO_PAST).idle
