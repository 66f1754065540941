"""Approvals: what runs ask people, and the decisions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from plait.kernel.ids import Millis

from .shape import Body, RunIdText, Scoped, Shape

Decision = Literal["approve", "reject"]
Comment = Annotated[str, Meta(max_length=10_000)]


class Approval(Shape, frozen=True, kw_only=True):
    """An open approval."""

    id: str
    run_id: str
    namespace: str
    node: str
    title: str
    by: str = ""
    """Who is asked."""
    asked_at: Millis
    deadline: Millis | None = None
    form: Any = None
    """A JSON Schema for `data`."""
    evidence: Any = None
    """What to look at before deciding."""


class ApprovalList(Shape, frozen=True, kw_only=True):
    approvals: list[Approval]


class Decided(Shape, frozen=True, kw_only=True):
    id: str
    decision: Decision


class Decide(Body, frozen=True, kw_only=True):
    decision: Decision
    comment: Comment = ""
    data: Any = None
    """What the form asks for."""


class ListApprovals(Scoped, frozen=True, kw_only=True):
    run: RunIdText | None = None
