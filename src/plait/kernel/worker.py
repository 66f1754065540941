"""The border to what runs tasks: the kernel hands over jobs, and is told how they ended."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Protocol

import msgspec
from msgspec import Raw

from .effects import RunTask
from .ids import RunId, TaskToken
from .inputs import TaskResult
from .store import LineLevel

here: ContextVar[Job | None] = ContextVar("plait.job", default=None)
"""The attempt whose code runs, for whoever is called from it: in a task of the event loop and in a thread."""


class Job(msgspec.Struct, gc=False):
    """One attempt of one task."""

    run_id: RunId
    task: RunTask
    attempt: int
    progress: Raw
    report: Callable[[RunId, TaskResult], None]
    note: Callable[[Job, LineLevel, str], None]
    """Keeps a line that the attempt says, from any thread."""
    said: int = 0
    """How many lines so far."""
    beat: Callable[[Raw], None] | None = None
    """Set by the worker: says that the attempt is alive, and how far it got."""


class Worker(Protocol):
    def start(self, job: Job) -> None: ...

    def cancel(self, run_id: RunId, token: TaskToken) -> None:
        """Stops an attempt whose result is not wanted; it reports nothing any more."""
        ...

    async def close(self) -> None: ...
