"""The audit log: who did what, when, and whether it was allowed."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from plait.kernel.ids import Millis

from .caller import Role
from .shape import Query, Shape

AUDIT = "auth.audit"
"""The kind of the audit log's records. Their ids begin with the time."""
AuditOutcome = Literal["ok", "refused"]


class AuditEntry(Shape, frozen=True, kw_only=True):
    id: str
    at: Millis
    who: str
    role: Role | None = None
    """Absent: the caller is unknown."""
    namespace: str
    action: str
    target: str | None = None
    outcome: AuditOutcome
    code: str | None = None
    credential: str = ""
    """The id of the key, token or link, because names need not be unique."""
    address: str = ""
    missed: int = 0
    """The number of refusals before this entry that were not recorded."""


class AuditPage(Shape, frozen=True, kw_only=True):
    entries: list[AuditEntry]
    next: str | None = None
    """The cursor of the next page, if there is one."""


class ListAudit(Query, frozen=True, kw_only=True):
    cursor: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 100
