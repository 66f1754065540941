"""The timeline of a run: when each node ran, attempt by attempt."""

from __future__ import annotations

from typing import Literal

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis
from plait.kernel.view import NodeStatus

from .shape import Shape

Outcome = Literal["running", "completed", "failed", "cancelled", "timed_out"]


class Try(Shape, frozen=True, kw_only=True):
    """One attempt. It may have waited for a worker before it began; after a failure the next one waits."""

    number: int
    started_at: Millis
    outcome: Outcome
    queued_at: Millis | None = None
    ended_at: Millis | None = None
    retry_at: Millis | None = None
    error: ErrorInfo | None = None


class Bar(Shape, frozen=True, kw_only=True):
    node: str
    label: str
    kind: str
    status: NodeStatus
    parent: str | None = None
    path: str = ""
    """Its place in words, if its label does not tell."""
    started_at: Millis | None = None
    ended_at: Millis | None = None
    tries: list[Try]


class Timeline(Shape, frozen=True, kw_only=True):
    bars: list[Bar]
    now: Millis
    """The time on the server's clock, for bars that have not ended."""
