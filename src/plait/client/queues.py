"""Tasks on queues of a server: the calls of `engine.queues`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from plait.api.agent_task import AgentTerms, MadePatch, ReservedCall
from plait.api.task import (
    DEFAULT_LEASE,
    PROTOCOL,
    ClaimedTasks,
    QueueTask,
    ReportedTask,
    ReportedTasks,
    TaskBeat,
    TaskFailure,
    TaskLine,
    TaskReport,
    TaskState,
)
from plait.kernel.errors import ErrorInfo, PlaitError
from plait.kernel.ids import DEFAULT_NAMESPACE

from .errors import refusal_of
from .queue_control import RemoteQueueControl


class RemoteQueues(RemoteQueueControl):
    """A worker's calls for tasks, and the limits of queues."""

    async def claim(
        self,
        worker: str,
        queues: Sequence[str],
        *,
        namespace: str = DEFAULT_NAMESPACE,
        limit: int = 1,
        lease_ms: int = DEFAULT_LEASE,
        wait_ms: int = 0,
        kinds: Sequence[str] | None = None,
        handlers: Sequence[str] | None = None,
        protocol: int = PROTOCOL,
    ) -> list[QueueTask]:
        """Claims up to `limit` tasks, each leased to this worker until it expires; waits for the first."""
        body = {
            "worker": worker,
            "queues": list(queues),
            "limit": limit,
            "lease_ms": lease_ms,
            "wait_ms": wait_ms,
            "kinds": None if kinds is None else list(kinds),
            "handlers": None if handlers is None else list(handlers),
            "protocol": protocol,
        }
        return (await self._post("claim", ClaimedTasks, body, namespace, idempotent=False)).tasks

    async def heartbeat(
        self,
        id: str,
        progress: Raw | None = None,
        *,
        lines: Sequence[TaskLine] = (),
        namespace: str = DEFAULT_NAMESPACE,
    ) -> bool:
        """Renews the lease and records progress and log lines; returns False if the task was cancelled."""
        body = {"id": id, "lines": list(lines), **_given(progress)}
        found = await self._post("heartbeat", TaskBeat, body, namespace)
        return not found.cancelled

    async def keep(
        self,
        id: str,
        index: int,
        entry: Any,
        *,
        says: str = "",
        events: Sequence[Any] = (),
        namespace: str = DEFAULT_NAMESPACE,
    ) -> None:
        """Appends an entry to the journal of an attempt; it is in the run's log when this returns."""
        body = {"id": id, "index": index, "entry": entry, "says": says, "events": list(events)}
        await self._post("keep", TaskState, body, namespace)

    async def suspend(self, id: str, wait: Any, *, says: str = "", namespace: str = DEFAULT_NAMESPACE) -> None:
        """Suspends the attempt until what it waits for arrives; durable when this returns."""
        await self._post("suspend", TaskState, {"id": id, "wait": wait, "says": says}, namespace)

    async def terms(self, id: str, *, namespace: str = DEFAULT_NAMESPACE) -> AgentTerms:
        """Returns what the agent of an attempt may use now."""
        return await self._post("terms", AgentTerms, {"id": id}, namespace)

    async def reserve(
        self, id: str, tokens: int, cost_usd: float | None, *, namespace: str = DEFAULT_NAMESPACE
    ) -> ReservedCall:
        """Reserves the usage of a model call, in all its budgets, until the next entry of the journal is kept."""
        body = {"id": id, "tokens": tokens, "cost_usd": cost_usd}
        return await self._post("reserve", ReservedCall, body, namespace)

    async def patch(self, id: str, *, denied: str = "", namespace: str = DEFAULT_NAMESPACE) -> MadePatch:
        """Makes the next call of `patch_workflow` in the journal, if the attempt is allowed to."""
        return await self._post("patch", MadePatch, {"id": id, "denied": denied}, namespace)

    async def complete(
        self, id: str, output: object, *, memo: bool = False, namespace: str = DEFAULT_NAMESPACE
    ) -> None:
        """Reports a success; durable when this returns. `memo`: the worker reused an earlier output."""
        await self._post("complete", TaskState, {"id": id, "output": output, "memo": memo}, namespace)

    async def fail(
        self,
        id: str,
        error: ErrorInfo,
        *,
        retryable: bool = True,
        progress: Raw | None = None,
        namespace: str = DEFAULT_NAMESPACE,
    ) -> None:
        """Reports a failed attempt; the task's policy decides whether and when it is retried."""
        body = {"id": id, "error": TaskFailure.of(error), "retryable": retryable, **_given(progress)}
        await self._post("fail", TaskState, body, namespace)

    async def report(
        self, reports: Sequence[TaskReport], *, namespace: str = DEFAULT_NAMESPACE
    ) -> list[PlaitError | None]:
        """Reports many results at once; each is accepted, or refused with its own error."""
        found = await self._post("report", ReportedTasks, {"results": list(reports)}, namespace)
        return [_refusal(each) for each in found.results]

    async def release(self, id: str, *, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Gives the task back at once, so that another worker can claim the same attempt."""
        await self._post("release", TaskState, {"id": id}, namespace, idempotent=False)

    async def _post(
        self, verb: str, shape: Any, body: dict[str, Any], namespace: str, *, idempotent: bool = True
    ) -> Any:
        path = self._transport.path("tasks", verb)
        return await self._transport.post(path, shape, body, {"namespace": namespace}, idempotent=idempotent)


def _given(progress: Raw | None) -> dict[str, Raw]:
    """The field to send, if any: without it, the last reported progress stays."""
    return {} if progress is None else {"progress": progress}


def _refusal(found: ReportedTask) -> PlaitError | None:
    return None if found.status != "refused" else refusal_of(found.http_status, found.code, found.detail)
