"""A run's record as JSON and as words."""

from __future__ import annotations

from typing import Any

from plait.kernel.ids import Millis, caller_id
from plait.kernel.store import RunRow

from .output import document


def status_of(row: RunRow) -> str:
    """The status, or `blocked`, which people look for as if it were one."""
    return "blocked" if row.status == "running" and row.blocked is not None else row.status


def name_of(row: RunRow) -> str:
    return row.definition if row.version is None else f"{row.definition}@{row.version}"


def run_document(row: RunRow, **more: Any) -> dict[str, Any]:
    """Times are in ms, UTC."""
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
        deadline=row.deadline,
        error=row.error,
        **more,
    )


def took(row: RunRow, now: Millis) -> int:
    return (row.ended_at or now) - row.created_at
