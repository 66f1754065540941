"""What a dialect may tell observers beyond the kernel's events: numbers to count, and a task's place in a trace.

Events and machines that have such facts say so by these methods; observers ask whoever has them, and know no dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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


class Counted(msgspec.Struct, frozen=True, gc=False):
    """A number that only grows, for `/metrics`."""

    name: str
    help: str
    label: str
    """What tells its parts apart; empty if it has none."""
    parts: Mapping[str, int]


@runtime_checkable
class HasCounters(Protocol):
    """A dialect that counts what happens in its runs."""

    def counters(self) -> Iterable[Counted]: ...


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
