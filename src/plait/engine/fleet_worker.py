"""Runs tasks for other engines of the fleet: those that they leave to workers because they lack the function.

The engine is then one more worker on the queues of those tasks, in all namespaces, for the code that it has. Claims,
leases, attempts and results are those of any worker, so whoever is quicker does the task, and no two do it at a time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from plait.api.claim_id import namespace_of
from plait.api.task import DEFAULT_LEASE, QueueTask, TaskLine, TaskReport
from plait.clusters.clusters import Clusters
from plait.kernel.bundle import Bundle, SharesTasks
from plait.kernel.clock import sleep
from plait.kernel.errors import PlaitError
from plait.kernel.kernel import Kernel

from .queues import Queues

if TYPE_CHECKING:
    from plait.workers.queue_worker import QueueWorker

log = logging.getLogger("plait.engine")

_AT_ONCE = 100
"""Most tasks in flight. An engine's own runs have no such limit; of others' tasks, few should have to be released."""
_EVERY = 1.0
"""Seconds between two polls without a signal: a slot of a limited queue may be free by then."""
_PAUSE = 0.2
"""Seconds between two polls that find nothing, whatever the signals: in a busy fleet they never stop."""


class FleetWorker:
    def __init__(self, kernel: Kernel, queues: Queues, bundles: Mapping[str, Bundle], clusters: Clusters) -> None:
        self._kernel = kernel
        self._tasks = FleetTasks(kernel, queues)
        self._bundles = bundles
        self._clusters = clusters
        self._working: asyncio.Task[None] | None = None
        self._worker: QueueWorker | None = None

    async def start(self) -> None:
        """Starts if there may be other engines."""
        if self._kernel.store.fleet is not None:
            self._working = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """Releases tasks in flight: another worker continues the same attempt."""
        if self._working is None:
            return
        if self._worker is None:
            self._working.cancel()
        else:
            self._worker.stop()
        await asyncio.gather(self._working, return_exceptions=True)
        self._working = None

    async def _work(self) -> None:
        """Works once there is code that other engines may lack."""
        while not self._kernel.code.of_tasks():
            await sleep(self._kernel.clock, _EVERY)
        self._worker = self._make_worker()
        try:
            await self._worker.run()
        except Exception:
            log.exception("this engine does no more tasks for others")

    def _make_worker(self) -> QueueWorker:
        from plait.workers.queue_worker import QueueWorker, WorkerSettings  # most engines do without

        settings = WorkerSettings(
            name=f"engine {self._kernel.owner}",
            queues=(),
            namespace="",
            concurrency=_AT_ONCE,
            lease=DEFAULT_LEASE / 1000,
            drain=0.0,
        )
        sharing = [bundle for bundle in self._bundles.values() if isinstance(bundle, SharesTasks)]
        executors = [executor for bundle in sharing for executor in bundle.executors]
        return QueueWorker(self._tasks, executors, self._kernel.clock, settings, self._clusters)


class FleetTasks:
    """A `TaskSource` of the tasks in all namespaces that this engine has the code for. Claim ids contain their
    namespaces."""

    def __init__(self, kernel: Kernel, queues: Queues) -> None:
        self._kernel = kernel
        self._queues = queues
        self._next_look = 0.0

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
    ) -> list[QueueTask]:
        clock = self._kernel.clock
        until = clock.monotonic() + wait_ms / 1000
        with self._kernel.queue_watch.bell() as bell:
            while True:
                if (early := self._next_look - clock.monotonic()) > 0:
                    await sleep(clock, early)
                code = self._kernel.code.of_tasks()
                found = await self._queues.claim_for_engine(worker, code, limit=limit, lease_ms=lease_ms)
                if found:
                    return found
                self._next_look = clock.monotonic() + _PAUSE
                if (left := until - clock.monotonic()) <= 0:
                    return []
                await bell.wait(min(left, _EVERY))

    async def heartbeat(
        self, id: str, progress: Raw | None = None, *, lines: Sequence[TaskLine] = (), namespace: str
    ) -> bool:
        return await self._queues.heartbeat(id, progress, lines=lines, namespace=namespace_of(id))

    async def report(self, reports: Sequence[TaskReport], *, namespace: str) -> list[PlaitError | None]:
        found = await asyncio.gather(
            *(self._queues.report([report], namespace=namespace_of(report.id)) for report in reports)
        )
        return [refusal for [refusal] in found]

    async def keep(self, id: str, index: int, entry: Any, *, says: str, events: Sequence[Any], namespace: str) -> None:
        await self._queues.keep(id, index, entry, says=says, events=events, namespace=namespace_of(id))

    async def suspend(self, id: str, wait: Any, *, says: str, namespace: str) -> None:
        await self._queues.suspend(id, wait, says=says, namespace=namespace_of(id))

    async def release(self, id: str, *, namespace: str) -> None:
        await self._queues.release(id, namespace=namespace_of(id))
