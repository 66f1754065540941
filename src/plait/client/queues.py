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
    """What workers do with tasks, and the limits of queues."""

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
        """Up to `limit` tasks, each of which is this worker's until its lease runs out; waits for the first."""
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
        """Renews the lease, and keeps what the attempt says; False: nobody wants the result any more."""
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
        """Adds to the journal of an attempt; in the run's log when this returns."""
        body = {"id": id, "index": index, "entry": entry, "says": says, "events": list(events)}
        await self._post("keep", TaskState, body, namespace)

    async def suspend(self, id: str, wait: Any, *, says: str = "", namespace: str = DEFAULT_NAMESPACE) -> None:
        """The attempt waits for something; durable when this returns."""
        await self._post("suspend", TaskState, {"id": id, "wait": wait, "says": says}, namespace)

    async def terms(self, id: str, *, namespace: str = DEFAULT_NAMESPACE) -> AgentTerms:
        """What the agent of an attempt may use now."""
        return await self._post("terms", AgentTerms, {"id": id}, namespace)

    async def reserve(
        self, id: str, tokens: int, cost_usd: float | None, *, namespace: str = DEFAULT_NAMESPACE
    ) -> ReservedCall:
        """Before a call of a model, in all budgets that it counts in; until the next entry is kept."""
        body = {"id": id, "tokens": tokens, "cost_usd": cost_usd}
        return await self._post("reserve", ReservedCall, body, namespace)

    async def patch(self, id: str, *, denied: str = "", namespace: str = DEFAULT_NAMESPACE) -> MadePatch:
        """Makes the call of `patch_workflow` that the journal has next, as far as the attempt may."""
        return await self._post("patch", MadePatch, {"id": id, "denied": denied}, namespace)

    async def complete(
        self, id: str, output: object, *, memo: bool = False, namespace: str = DEFAULT_NAMESPACE
    ) -> None:
        """The task succeeded; durable when this returns. `memo`: the worker had the output from before."""
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
        """The attempt failed; whether and when it is tried again is its policy's to say."""
        body = {"id": id, "error": TaskFailure.of(error), "retryable": retryable, **_given(progress)}
        await self._post("fail", TaskState, body, namespace)

    async def report(
        self, reports: Sequence[TaskReport], *, namespace: str = DEFAULT_NAMESPACE
    ) -> list[PlaitError | None]:
        """Many results at once; each is accepted, or refused with an error of its own."""
        found = await self._post("report", ReportedTasks, {"results": list(reports)}, namespace)
        return [_refusal(each) for each in found.results]

    async def release(self, id: str, *, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Gives the task back at once: another worker does the same attempt."""
        await self._post("release", TaskState, {"id": id}, namespace, idempotent=False)

    async def _post(
        self, verb: str, shape: Any, body: dict[str, Any], namespace: str, *, idempotent: bool = True
    ) -> Any:
        path = self._transport.path("tasks", verb)
        return await self._transport.post(path, shape, body, {"namespace": namespace}, idempotent=idempotent)


def _given(progress: Raw | None) -> dict[str, Raw]:
    """Left out, what was reported before stays."""
    return {} if progress is None else {"progress": progress}


def _refusal(found: ReportedTask) -> PlaitError | None:
    return None if found.status != "refused" else refusal_of(found.http_status, found.code, found.detail)
