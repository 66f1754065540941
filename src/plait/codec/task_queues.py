"""The task queues of an encrypted store: workers get plain tasks, rows are sealed."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from msgspec import Raw

from plait.kernel.errors import PlaitError
from plait.kernel.ids import Millis, RunId, Shard, TaskToken, caller_id
from plait.kernel.queued import Claim, ClaimRequest, Expired, HeldTask, QueueLength, SeenWorker, TaskQueues

from .run_keys import RunKeys
from .seal import Seal
from .unseal import Unseal

log = logging.getLogger("plait.codec")


class EncryptedTaskQueues:
    def __init__(self, queues: TaskQueues, keys: RunKeys, unseal: Unseal) -> None:
        self._queues = queues
        self._keys = keys
        self._unseal = unseal

    async def claim(self, request: ClaimRequest) -> list[HeldTask]:
        """Claims tasks. One that can't be read is not returned: its claim expires, and its run shows why."""
        found: list[HeldTask] = []
        for held in await self._queues.claim(request):
            try:
                found.append(await self._unseal.held(held))
            except PlaitError as error:
                log.error("a task of run %s can't be read: %s", caller_id(held.task.run_id), error)
        return found

    async def limited(self, namespace: str, queues: Sequence[str]) -> bool:
        return await self._queues.limited(namespace, queues)

    async def beat(self, claim: Claim, progress: Raw | None) -> bool:
        if progress is not None:
            seal = Seal(await self._keys.of(claim.run_id), claim.run_id)
            progress = seal.progress(claim.token, progress)
        return await self._queues.beat(claim, progress)

    async def release(self, claim: Claim) -> bool:
        return await self._queues.release(claim)

    async def held(self, run_id: RunId, token: TaskToken | None = None) -> list[HeldTask]:
        return [await self._unseal.held(held) for held in await self._queues.held(run_id, token)]

    async def unclaimed(self) -> list[tuple[str, str]]:
        return await self._queues.unclaimed()

    async def lengths(self) -> list[QueueLength]:
        return await self._queues.lengths()

    async def expired(self, shards: Collection[Shard], limit: int) -> Expired:
        found = await self._queues.expired(shards, limit)
        return Expired([await self._unseal.expired(claim) for claim in found.claims], found.any_left)

    async def note_worker(self, namespace: str, queues: Collection[str], worker: str) -> None:
        await self._queues.note_worker(namespace, queues, worker)

    async def workers(self, namespace: str, within: Millis) -> list[SeenWorker]:
        return await self._queues.workers(namespace, within)
