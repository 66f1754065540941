"""The limits of queues of a server, and who holds their slots: the calls of `engine.queues`."""

from __future__ import annotations

from datetime import timedelta

from plait.api.queue import Queue, QueueDetail, QueueLimits, QueueList
from plait.api.transport import Transport
from plait.kernel.admission import NO_LIMITS, SECOND, QueueSettings
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, run_key
from plait.kernel.queued import SeenWorker
from plait.kernel.run_queues import QueueState, SlotHolder


class RemoteQueueControl:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def set(
        self,
        name: str,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        concurrency: int | None = None,
        per_worker: int | None = None,
        rate: int | None = None,
        period: float | timedelta = 1.0,
        partitioned: bool = False,
        max_waiting: int | None = None,
    ) -> QueueSettings:
        """Replaces the limits of a queue."""
        seconds = period.total_seconds() if isinstance(period, timedelta) else period
        body = {
            "concurrency": concurrency,
            "per_worker": per_worker,
            "rate": rate,
            "period_ms": round(seconds * 1000),
            "partitioned": partitioned,
            "max_waiting": max_waiting,
        }
        path = self._transport.path("queues", name)
        return _settings(await self._transport.put(path, Queue, body, {"namespace": namespace}))

    async def pause(self, name: str, *, namespace: str = DEFAULT_NAMESPACE) -> QueueSettings:
        """Pauses a queue: nothing on it starts; runs and tasks in progress continue."""
        return await self._act(name, "pause", namespace)

    async def resume(self, name: str, *, namespace: str = DEFAULT_NAMESPACE) -> QueueSettings:
        return await self._act(name, "resume", namespace)

    async def list(self, *, namespace: str = DEFAULT_NAMESPACE) -> list[QueueState]:
        """Lists the queues that have limits, or runs or tasks."""
        found = await self._transport.get(self._transport.path("queues"), QueueList, {"namespace": namespace})
        return [_state(queue) for queue in found.queues]

    async def show(self, name: str, *, namespace: str = DEFAULT_NAMESPACE) -> QueueState:
        return _state((await self._detail(name, namespace)).queue)

    async def holders(self, name: str, *, namespace: str = DEFAULT_NAMESPACE) -> list[SlotHolder]:
        """Lists the holders of a queue's slots, longest first."""
        return [
            SlotHolder(
                kind=slot.kind,
                run_id=run_key(namespace, slot.run_id),
                label=slot.label,
                since=slot.since,
                partition=slot.partition,
                worker=slot.worker,
            )
            for slot in (await self._detail(name, namespace)).slots
        ]

    async def workers(self, name: str, *, namespace: str = DEFAULT_NAMESPACE) -> list[SeenWorker]:
        """Lists the workers that recently claimed tasks of a queue."""
        return [SeenWorker(name, each.worker, each.seen_at) for each in (await self._detail(name, namespace)).workers]

    async def _detail(self, name: str, namespace: str) -> QueueDetail:
        return await self._transport.get(self._transport.path("queues", name), QueueDetail, {"namespace": namespace})

    async def _act(self, name: str, action: str, namespace: str) -> QueueSettings:
        path = self._transport.path("queues", name, action)
        return _settings(await self._transport.post(path, Queue, {}, {"namespace": namespace}, idempotent=True))


def _state(queue: Queue) -> QueueState:
    return QueueState(
        namespace=queue.namespace,
        name=queue.name,
        settings=None if queue.limits is None else _limits(queue.limits),
        waiting_runs=queue.waiting_runs,
        delayed_runs=queue.delayed_runs,
        running_runs=queue.running_runs,
        waiting_tasks=queue.waiting_tasks,
        running_tasks=queue.running_tasks,
    )


def _settings(queue: Queue) -> QueueSettings:
    return NO_LIMITS if queue.limits is None else _limits(queue.limits)


def _limits(limits: QueueLimits) -> QueueSettings:
    return QueueSettings(
        concurrency=limits.concurrency,
        per_worker=limits.per_worker,
        rate=limits.rate,
        period=SECOND if limits.period_ms is None else Millis(limits.period_ms),
        partitioned=limits.partitioned,
        max_waiting=limits.max_waiting,
        paused=limits.paused,
    )
