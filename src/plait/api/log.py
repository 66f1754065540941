"""What the tasks of a run logged."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from plait.kernel.ids import Millis
from plait.kernel.store import LineLevel

from .shape import Count, NodeId, Scoped, Shape


class LogLine(Shape, frozen=True, kw_only=True):
    id: int
    at: Millis
    node: str
    attempt: int
    level: LineLevel
    text: str


class LogPage(Shape, frozen=True, kw_only=True):
    lines: list[LogLine]
    next: int | None = None
    """`after` of the next page, if there is one."""


class ListLogs(Scoped, frozen=True, kw_only=True):
    node: NodeId | None = None
    after: Count = 0
    limit: Annotated[int, Meta(ge=1, le=5000)] = 500
