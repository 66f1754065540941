"""Dead letters: tasks that used up their attempts, to be retried or discarded."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis

from .shape import RunIdText, Scoped, Shape

DeadLetterStatus = Literal["pending", "retried", "discarded"]


class DeadLetter(Shape, frozen=True, kw_only=True):
    id: str
    run_id: str
    namespace: str
    node: str
    label: str
    attempts: int
    error: ErrorInfo
    at: Millis
    status: DeadLetterStatus


class DeadLetterPage(Shape, frozen=True, kw_only=True):
    dead_letters: list[DeadLetter]
    next: str | None = None
    """The cursor of the next page, if there is one."""


class DeadLetterState(Shape, frozen=True, kw_only=True):
    """The status of a dead letter after the request."""

    id: str
    status: DeadLetterStatus


class ListDeadLetters(Scoped, frozen=True, kw_only=True):
    status: Literal["pending", "retried", "discarded", "all"] = "pending"
    run: RunIdText | None = None
    cursor: Annotated[str, Meta(max_length=20_000)] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 100
