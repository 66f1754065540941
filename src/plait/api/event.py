"""The event log of a run, by page or live."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from plait.kernel.events import Recorded
from plait.kernel.view import RunStatus

from .shape import Count, Scoped, Shape


class EventPage(Shape, frozen=True, kw_only=True):
    events: list[Recorded]
    next: int | None = None
    """`after` of the next page, if there is one."""


class StreamEnd(Shape, frozen=True, kw_only=True):
    """The last frame of a live log: the run has ended."""

    status: RunStatus


class ListEvents(Scoped, frozen=True, kw_only=True):
    after: Count = 0
    limit: Annotated[int, Meta(ge=1, le=5000)] = 500
    feed: Annotated[str, Meta(max_length=64)] = ""
    """The name of a feed of the run's dialect, which translates the log. Its pages may be shorter than `limit`."""
