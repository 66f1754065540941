"""What a dialect may tell observers beyond the kernel's events: counters, and a task's place in a trace.

Events and machines with such facts offer these methods; observers check for the methods and know no dialect.
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
    """Where they go, one node for each token."""


@runtime_checkable
class TokenCounter(Protocol):
    """A machine that counts tokens."""

    def tokens(self) -> tuple[int, int]:
        """Its counter, and the difference from the tokens that exist: anything but 0 is a bug."""
        ...


class Counted(msgspec.Struct, frozen=True, gc=False):
    """A number that only grows, for `/metrics`."""

    name: str
    help: str
    label: str
    """The label that distinguishes its parts; empty if it has none."""
    parts: Mapping[str, int]


@runtime_checkable
class HasCounters(Protocol):
    """A dialect with counters of what happens in its runs."""

    def counters(self) -> Iterable[Counted]: ...


class TaskTrace(msgspec.Struct, frozen=True, gc=False):
    name: str
    span: str
    """The span's name within the run, the same in every process."""
    parents: tuple[str, ...] = ()
    """Spans that caused it: the first is its parent, others are linked."""
    attributes: Mapping[str, str | int] = {}


@runtime_checkable
class Traced(Protocol):
    """A machine that knows the causal order of its tasks."""

    def trace(self, token: TaskToken) -> TaskTrace | None: ...


def flows(event: object) -> Iterator[Flow]:
    """The token flow of an event, if it moves tokens."""
    flow = getattr(event, "flow", None)
    if flow is not None:
        yield flow()
