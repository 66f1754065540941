"""Interfaces of an engine's queues for the hot path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Raw

from plait.api.task import QueueTask, TaskReport
from plait.kernel.errors import PlaitError
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.queued import HeldTask

if TYPE_CHECKING:
    from plait.agents.job import JobResult

WORKER = "redis"
"""Holder of the claims: only Redis knows which consumer has a task."""


class AgentJobs(Protocol):
    """The interface of `engine.agents.jobs`."""

    async def job(self, task: QueueTask) -> dict[str, Any] | None:
        """The job to send to a worker; None if nothing is left to do, after reporting that."""
        ...

    async def keep(self, held: HeldTask, index: int, entry: Any, says: str) -> dict[str, Any]:
        """Adds to the journal of a job in flight; returns the answer to its worker."""
        ...

    async def ended(self, held: HeldTask, result: JobResult) -> TaskReport:
        """The report of a job that ended."""
        ...


class OfferSource(Protocol):
    """The interface of `engine.queues`."""

    async def unclaimed(self) -> list[tuple[str, str]]: ...
    async def claim(
        self,
        worker: str,
        queues: Sequence[str],
        *,
        namespace: str,
        limit: int,
        lease_ms: int,
        kinds: Sequence[str] | None = None,
    ) -> list[QueueTask]: ...
    async def heartbeat(self, id: str, progress: Raw | None = None, *, namespace: str) -> bool: ...
    async def report(self, reports: Sequence[TaskReport], *, namespace: str) -> list[PlaitError | None]: ...
    async def release(self, id: str, *, namespace: str) -> None: ...
    async def held(self, run_id: RunId, token: TaskToken | None) -> list[HeldTask]: ...
    async def reject(self, id: str, reason: str, *, namespace: str) -> None: ...
    async def reject_stray(self, run_id: RunId, node: str, reason: str) -> None: ...
    async def blob(self, reference: str) -> Raw: ...
