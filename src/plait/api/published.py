"""Values that a run publishes, and its answers to queries and updates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta

from plait.kernel.events import Recorded

from .run_action import MAX_WAIT_MS, MessageId
from .shape import Body, Shape

PUBLISHED = "published"
"""The type of the event with a published value."""


class PublishedValue(Shape, frozen=True, kw_only=True):
    """One of the values that a run has published under a key."""

    key: str
    value: Any
    seq: int
    """The number of its event, to continue reading after it."""
    at: int


class LastPublished(Shape, frozen=True, kw_only=True):
    """The last value that a run has published under a key; nothing else tells `null` from no value."""

    found: bool
    value: Any = None


class AskQuery(Body, frozen=True, kw_only=True):
    argument: Any = None


class QueryAnswer(Shape, frozen=True, kw_only=True):
    answer: Any = None


class SendUpdate(Body, frozen=True, kw_only=True):
    body: Any = None
    id: MessageId | None = None
    """The same id twice is one update, with one answer."""
    wait_ms: Annotated[int, Meta(ge=1, le=MAX_WAIT_MS)] = 10_000
    """Milliseconds to wait for the answer."""


def published_in(events: Iterable[Recorded], key: str) -> list[PublishedValue]:
    """Returns the values published under one key."""
    return [
        PublishedValue(key=key, value=event.data.get("value"), seq=event.seq, at=event.at)
        for event in events
        if event.type == PUBLISHED and event.data["key"] == key
    ]
