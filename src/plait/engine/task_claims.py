"""New claims: taken from the store, released if they can't be delivered, and shaped for a worker."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from plait.api.claim_id import ClaimId
from plait.api.task import QueueTask
from plait.kernel import task_payload, values
from plait.kernel.errors import PlaitError, Unavailable
from plait.kernel.ids import caller_id
from plait.kernel.kernel import Kernel
from plait.kernel.queued import ClaimRequest, HeldTask, QueuedTask
from plait.kernel.task_inputs import AGENT
from plait.workers.callbacks import fill_in
from plait.workers.common import CommonExecutors

from .task_journals import past_of

log = logging.getLogger("plait.engine")


class TaskClaims:
    def __init__(self, kernel: Kernel, executors: CommonExecutors) -> None:
        self._kernel = kernel
        self._executors = executors

    async def take(self, request: ClaimRequest) -> list[HeldTask]:
        """Claims tasks. If the caller is cancelled while the store works, the tasks are released again."""
        taking = asyncio.ensure_future(self._kernel.store.queues.claim(request))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            with contextlib.suppress(PlaitError):
                await self._free(await taking)
            raise

    @contextlib.asynccontextmanager
    async def or_freed(self, taken: Sequence[HeldTask]) -> AsyncGenerator[None]:
        """Releases the claims if an error or cancellation occurs before the worker gets them."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(PlaitError):
                await self._free(taken)
            raise

    async def shaped(self, taken: Sequence[HeldTask]) -> list[QueueTask]:
        """The tasks for a worker. An unreadable one does not block the others: its claim expires, and its run reports
        why."""
        found: list[QueueTask] = []
        async with self.or_freed(taken):
            for held in taken:
                try:
                    found.append(await self._shape(held))
                except Unavailable:
                    raise
                except PlaitError as error:
                    log.error("a task of run %s can't be read: %s", caller_id(held.task.run_id), error)
        return found

    async def _free(self, taken: Sequence[HeldTask]) -> None:
        for held in taken:
            await self._kernel.store.queues.release(ClaimId.of(held.task, held.claim or "").held)
        if taken:
            self._kernel.queue_watch.ring()

    async def _shape(self, held: HeldTask) -> QueueTask:
        task = held.task
        if held.claim is None or held.lease is None:
            raise AssertionError(f"task {task.token} is not claimed")
        journal, error = await past_of(self._kernel, task) if task.kind == AGENT else ([], None)
        return QueueTask(
            id=ClaimId.of(task, held.claim).text(),
            run_id=caller_id(task.run_id),
            namespace=task.namespace,
            queue=task.queue,
            kind=task.kind,
            handler=task.handler,
            label=task.label,
            node=task.node or task.token,
            attempt=task.attempt,
            key=task.key,
            input=await self._input(task),
            progress=values.decode(task.progress),
            journal=journal,
            last_error=error,
            lease_ms=held.lease,
            timeout_ms=task.timeout,
            heartbeat_ms=task.heartbeat,
            retry_on_timeout=task.terms.retry_on_timeout,
            never=task.terms.never,
        )

    async def _input(self, task: QueuedTask) -> Any:
        """The input with callback addresses filled in: a worker need not know the server's address or secret."""
        found = await task_payload.whole(self._kernel.store, task.input, task.blobs)
        return fill_in(found, task.run_id, task.node, self._executors.callbacks)
