"""The JSON shapes that several routes share. An absent field is none, empty or its default."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.engine.run_details import Action
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, caller_id
from plait.kernel.store import RunRow
from plait.kernel.view import Reason, RunStatus, RunView


class Shape(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Base of what is answered."""


class Run(Shape, frozen=True, kw_only=True):
    """One execution of a definition. Times are ms since 1970, UTC."""

    id: str
    namespace: str
    dialect: str
    definition: str
    version: str | None = None
    status: RunStatus
    blocked: ErrorInfo | None = None
    """Present: it can't go on until someone acts, although its status is `running`."""
    labels: dict[str, str] | None = None
    parent: str | None = None
    parent_node: str | None = None
    created_at: Millis
    ended_at: Millis | None = None
    deadline: Millis | None = None
    error: ErrorInfo | None = None


class RunDetail(Shape, frozen=True, kw_only=True):
    run: Run
    input: Any
    output: Any = None
    view: RunView
    waiting: list[Reason]
    """Why it is not moving, in words."""
    seq: int
    """The number of its last event."""
    at: int | None = None
    """The event number it is shown at, if that was asked for."""
    actions: list[Action]
    """What makes sense to do now, and the caller may."""


class RunRef(Shape, frozen=True, kw_only=True):
    """Which run, and how it stands."""

    id: str
    namespace: str
    status: RunStatus


class Done(Shape, frozen=True, kw_only=True):
    """What was told is durable."""

    id: str


def run_of(row: RunRow) -> Run:
    return Run(
        id=caller_id(row.id),
        namespace=row.namespace,
        dialect=row.dialect,
        definition=row.definition,
        version=row.version,
        status=row.status,
        blocked=row.blocked,
        labels=row.labels or None,
        parent=None if row.parent is None else caller_id(row.parent),
        parent_node=row.parent_token,
        created_at=row.created_at,
        ended_at=row.ended_at,
        deadline=row.deadline,
        error=row.error,
    )
