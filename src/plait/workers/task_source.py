"""The source of a worker's tasks, and the receiver of its reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Raw

from plait.api.task import QueueTask, TaskLine, TaskReport
from plait.kernel.errors import PlaitError


class TaskSource(Protocol):
    """The interface of `engine.queues`, or that of a client."""

    async def claim(
        self,
        worker: str,
        queues: Sequence[str],
        *,
        namespace: str,
        limit: int,
        lease_ms: int,
        wait_ms: int,
        kinds: Sequence[str] | None,
        handlers: Sequence[str] | None,
    ) -> list[QueueTask]: ...
    async def heartbeat(
        self, id: str, progress: Raw | None = None, *, lines: Sequence[TaskLine] = (), namespace: str
    ) -> bool: ...
    async def report(self, reports: Sequence[TaskReport], *, namespace: str) -> list[PlaitError | None]: ...
    async def keep(
        self, id: str, index: int, entry: Any, *, says: str, events: Sequence[Any], namespace: str
    ) -> None: ...
    async def suspend(self, id: str, wait: Any, *, says: str, namespace: str) -> None: ...
    async def release(self, id: str, *, namespace: str) -> None: ...
