"""One engine's access to the run queues: as unreliable as its door. Other engines are notified when it admits runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from plait.kernel.admission import QueueSettings
from plait.kernel.ids import RunId
from plait.kernel.run_queues import AdmissionRound, QueuePlace, QueueState, RunBacklog, RunQueues, SlotHolder

T = TypeVar("T")


class Call(Protocol):
    """Makes a call to the store, which may fail before or after it."""

    async def __call__(self, call: Awaitable[T], /) -> T: ...


class QueueDoor:
    """A `RunQueues`."""

    def __init__(self, queues: RunQueues, call: Call, tell_others: Callable[[], None]) -> None:
        self._queues = queues
        self._call = call
        self._tell_others = tell_others

    async def queues(self) -> list[tuple[str, str]]:
        return await self._call(self._queues.queues())

    async def admit(self, namespace: str, queue: str, limit: int) -> AdmissionRound:
        try:
            return await self._call(self._queues.admit(namespace, queue, limit))
        finally:
            self._tell_others()  # it may have been admitted despite the error

    async def holder(self, namespace: str, queue: str, dedup_id: str) -> RunId | None:
        return await self._call(self._queues.holder(namespace, queue, dedup_id))

    async def place(self, run_id: RunId) -> QueuePlace | None:
        return await self._call(self._queues.place(run_id))

    async def waiting(self, namespace: str, queue: str, partition: str | None) -> int:
        return await self._call(self._queues.waiting(namespace, queue, partition))

    async def settings(self, namespace: str, queue: str) -> QueueSettings | None:
        return await self._call(self._queues.settings(namespace, queue))

    async def change(
        self, namespace: str, queue: str, change: Callable[[QueueSettings], QueueSettings]
    ) -> QueueSettings:
        try:
            return await self._call(self._queues.change(namespace, queue, change))
        finally:
            self._tell_others()

    async def states(self, namespace: str) -> list[QueueState]:
        return await self._call(self._queues.states(namespace))

    async def backlogs(self) -> list[RunBacklog]:
        return await self._call(self._queues.backlogs())

    async def holders(self, namespace: str, queue: str, limit: int) -> list[SlotHolder]:
        return await self._call(self._queues.holders(namespace, queue, limit))
