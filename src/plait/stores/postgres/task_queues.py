"""Tasks on queues, on PostgreSQL: what workers do with them. Every statement is in `task_queues.sql`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from msgspec import Raw

from plait.kernel.ids import Millis, RunId, Shard, TaskToken
from plait.kernel.queued import TIMEOUT_GRACE, Claim, ClaimRequest, Expired, HeldTask, QueueLength, SeenWorker
from plait.kernel.store import Write
from plait.stores import statements
from plait.stores.rows import inbox_columns, text
from plait.stores.task_rows import FORGET_AFTER, expired_claim, held_task, queued_columns

from .database import Connection

SQL = statements.load("plait.stores.postgres", "task_queues.sql")


class ClaimLost(Exception):
    """A claim that a write ends does not hold."""


class PostgresTaskQueues:
    def __init__(self, use: Callable[[], AbstractAsyncContextManager[Connection]], origin: str) -> None:
        self._use = use
        self._origin = origin

    async def claim(self, request: ClaimRequest) -> list[HeldTask]:
        async with self._use() as connection:
            found: list[Any] = await connection.fetch(
                SQL["claim"],
                request.namespace,
                list(request.queues),
                _listed(request.kinds),
                _listed(request.handlers),
                request.limit,
                request.claim,
                request.worker,
                request.lease,
                TIMEOUT_GRACE,
            )
        return [held_task(tuple(row)) for row in sorted(found, key=lambda row: (row["priority"], row["id"]))]

    async def unclaimed(self) -> list[tuple[str, str]]:
        return [(row["namespace"], row["queue"]) for row in await self._fetch("unclaimed")]

    async def lengths(self) -> list[QueueLength]:
        return [QueueLength(*row) for row in await self._fetch("lengths")]

    async def beat(self, claim: Claim, progress: Raw | None) -> bool:
        given = None if progress is None else text(progress)
        return await self._value("beat", claim.run_id, claim.token, claim.id, given) is not None

    async def release(self, claim: Claim) -> bool:
        return await self._value("release", claim.run_id, claim.token, claim.id, self._origin) is not None

    async def held(self, run_id: RunId, token: TaskToken | None = None) -> list[HeldTask]:
        return [held_task(tuple(row)) for row in await self._fetch("held", run_id, token)]

    async def expired(self, shards: Collection[Shard], limit: int) -> Expired:
        listed = list(shards)
        claims = [expired_claim(tuple(row)) for row in await self._fetch("expired", listed, limit, TIMEOUT_GRACE)]
        return Expired(claims, bool(claims or await self._fetch("any_queued", listed)))

    async def note_worker(self, namespace: str, queues: Collection[str], worker: str) -> None:
        await self._value("note_worker", namespace, sorted(set(queues)), worker, FORGET_AFTER)

    async def workers(self, namespace: str, within: Millis) -> list[SeenWorker]:
        return [SeenWorker(*row) for row in await self._fetch("seen_workers", namespace, within)]

    async def _fetch(self, name: str, *args: object) -> list[Any]:
        async with self._use() as connection:
            return await connection.fetch(SQL[name], *args)

    async def _value(self, name: str, *args: object) -> Any:
        async with self._use() as connection:
            return await connection.fetchval(SQL[name], *args)


# -- in a commit -------------------------------------------------------------------------------------------------------


async def write_queues(connection: Connection, writes: Sequence[Write]) -> None:
    """What decisions of different runs enqueue and revoke."""
    dequeued = [(write.run_id, token) for write in writes for token in write.dequeued]
    if dequeued:
        await connection.execute(SQL["dequeue"], *zip(*dequeued, strict=True))
    queued = {(task.run_id, task.token): queued_columns(task) for write in writes for task in write.queued}
    if queued:
        await connection.execute(SQL["enqueue"], *zip(*queued.values(), strict=True))


async def write_reports(connection: Connection, writes: Sequence[Write], origin: str) -> None:
    """The tasks that results of workers end; no claim twice."""
    ended = [(claim.run_id, claim.token, claim.id) for write in writes if (claim := write.finished) is not None]
    sent = [inbox_columns(row) for write in writes for row in write.inbox]
    given = (*zip(*ended, strict=True), *zip(*sent, strict=True), origin)
    if not await connection.fetchval(SQL["report"], *given):
        raise ClaimLost


async def has_results(connection: Connection, write: Write) -> bool:
    """Whether what a write would send is in the inbox already."""
    known = [(row.run_id, row.key) for row in write.inbox]
    return not known or await connection.fetchval(SQL["has_inputs"], *zip(*known, strict=True)) == len(known)


def _listed(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)
