"""The border to what runs tasks: the kernel hands over jobs, and is told how they ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec
from msgspec import Raw

from .effects import RunTask
from .ids import RunId, TaskToken
from .inputs import TaskResult


class Job(msgspec.Struct, gc=False):
    """One attempt of one task."""

    run_id: RunId
    task: RunTask
    attempt: int
    progress: Raw
    report: Callable[[RunId, TaskResult], None]


class Worker(Protocol):
    def start(self, job: Job) -> None: ...

    def cancel(self, run_id: RunId, token: TaskToken) -> None:
        """Stops an attempt whose result is not wanted; it reports nothing any more."""
        ...

    async def close(self) -> None: ...
