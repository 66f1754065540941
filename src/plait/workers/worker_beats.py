"""Heartbeats for the tasks that a queue worker has claimed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection

from msgspec import Raw

from plait.api.task import QueueTask
from plait.kernel.clock import Clock, sleep
from plait.kernel.errors import Conflict, NotFound, PlaitError

from .task_source import TaskSource
from .worker_reports import unfit

log = logging.getLogger("plait.worker")

_BEATS = 3
"""Heartbeats per lease: two may get lost."""


class WorkerBeats:
    def __init__(
        self,
        source: TaskSource,
        clock: Clock,
        lease: float,
        namespace: str,
        progress: Callable[[QueueTask], Raw | None],
        drop: Callable[[QueueTask], None],
    ) -> None:
        self._source = source
        self._clock = clock
        self._lease = lease
        self._namespace = namespace
        self._progress = progress
        self._drop = drop
        self._often: dict[str, asyncio.Task[None]] = {}
        """Tasks, by claim, that need heartbeats more often than the lease does."""

    async def send_all(self, held: Callable[[], Collection[QueueTask]]) -> None:
        """Runs until cancelled."""
        while True:
            await sleep(self._clock, self._lease / _BEATS)
            await asyncio.gather(*(self._send(task) for task in held() if task.id not in self._often))

    def begin(self, task: QueueTask) -> None:
        if task.heartbeat_ms is not None and task.heartbeat_ms < self._lease * 1000:
            self._often[task.id] = asyncio.ensure_future(self._send_often(task, task.heartbeat_ms / 1000))

    def end(self, id: str) -> None:
        if (sending := self._often.pop(id, None)) is not None:
            sending.cancel()

    async def _send_often(self, task: QueueTask, within: float) -> None:
        while True:
            await sleep(self._clock, within / _BEATS)
            await self._send(task)

    async def _send(self, task: QueueTask) -> None:
        try:
            wanted = await self._renew(task)
        except (Conflict, NotFound):
            wanted = False
        except PlaitError as error:
            log.warning("no heartbeat for %s: %s", task.label, error)
            return
        if not wanted:
            self._drop(task)

    async def _renew(self, task: QueueTask) -> bool:
        progress = self._progress(task)
        try:
            return await self._source.heartbeat(task.id, progress, namespace=self._namespace)
        except PlaitError as error:
            if progress is None or not unfit(error):
                raise
            log.warning("the progress of %s was not accepted: %s", task.label, error)
        return await self._source.heartbeat(task.id, namespace=self._namespace)  # the attempt is alive nevertheless
