"""What a dialect may tell observers beyond the kernel's events: numbers to count, and a task's place in a trace.

Events and machines that have such facts say so by these methods; observers ask whoever has them, and know no dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, Protocol, runtime_checkable

import msgspec

from .ids import TaskToken


class Flow(msgspec.Struct, frozen=True, gc=False):
    """Tokens that an event consumed at a node, or emitted to others."""

    kind: Literal["consumed", "emitted"]
    node: str
    tokens: tuple[str, ...]
    to: tuple[str, ...] = ()
    """Where they go, one for each token."""


@runtime_checkable
class TokenCounter(Protocol):
    """A machine that counts tokens."""

    def tokens(self) -> tuple[int, int]:
        """Its counter, and how far that is from the tokens that there are: anything but 0 is a bug."""
        ...


class TaskTrace(msgspec.Struct, frozen=True, gc=False):
    name: str
    span: str
    """Names the span within the run; the same in every process."""
    parents: tuple[str, ...] = ()
    """Spans of what it follows from: the first is its parent, others are linked."""
    attributes: Mapping[str, str | int] = {}


@runtime_checkable
class Traced(Protocol):
    """A machine whose tasks follow from each other."""

    def trace(self, token: TaskToken) -> TaskTrace | None: ...


def flows(event: object) -> Iterator[Flow]:
    """Of an event that moves tokens."""
    flow = getattr(event, "flow", None)
    if flow is not None:
        yield flow()
