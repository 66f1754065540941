"""Queued messages, oldest first. One that was taken but not delivered returns to its old place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from operator import attrgetter
from typing import Protocol

import msgspec
from msgspec import Raw

from plait.kernel.ids import Millis


class QueuedMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    name: str
    body: Raw
    sent_at: Millis
    number: int = 0
    """Its arrival number among all messages; 0 in snapshots of older releases."""


class Listener(Protocol):
    """An open operation that waits for messages."""

    @property
    def names(self) -> Sequence[str] | None: ...
    @property
    def limit(self) -> int | None: ...


Messages = dict[str, QueuedMessage]
"""Queued messages by id, oldest first."""


def in_order(messages: Iterable[QueuedMessage]) -> Messages:
    return {message.id: message for message in sorted(messages, key=attrgetter("number"))}


def matching(queue: Messages, listener: Listener) -> list[str]:
    """Ids of the messages that a listener would get now."""
    names = listener.names or ()
    return list(islice((message.id for message in queue.values() if message.name in names), listener.limit or 1))


def promised(queue: Messages, listeners: Iterable[Listener], listener: Listener) -> bool:
    """Whether a message is left for a listener once earlier listeners have got theirs."""
    left = dict(queue)
    for other in listeners:
        found = matching(left, other)
        if other is listener:
            return bool(found)
        for id in found:
            del left[id]
    return False
