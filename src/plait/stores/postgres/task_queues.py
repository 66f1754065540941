"""Queued tasks on PostgreSQL: the workers' operations. All statements are in `task_queues.sql`."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import astuple

from plait.kernel.admission import EVERY_QUEUE
from plait.kernel.ids import Millis, RunId, Shard, TaskToken
from plait.kernel.queued import TIMEOUT_GRACE, Claim, ClaimRequest, Expired, HeldTask, QueueLength, SeenWorker
from plait.kernel.store import Write
from plait.stores import statements
from plait.stores.queue_rows import limits_of
from plait.stores.rows import inbox_columns, text
from plait.stores.task_rows import FORGET_AFTER, expired_claim, held_task, held_tasks, queued_columns

from .database import Connection
from .run_queues import SQL as QUEUES
from .run_queues import choose, gate_of, note_starts, settle_starts

SQL = statements.load("plait.stores.postgres", "task_queues.sql")


_KNOWN_FOR = 0.5
"""Seconds for which the list of queues with limits is cached."""


class ClaimLost(Exception):
    """A claim that a write ends is not valid."""


class PostgresTaskQueues:
    def __init__(self, use: Callable[[], AbstractAsyncContextManager[Connection]], origin: str) -> None:
        self._use = use
        self._origin = origin
        self._limits = LimitedQueues()
        self._turn = 0

    async def claim(self, request: ClaimRequest) -> list[HeldTask]:
        if request.code is not None:
            return await self._claim_by_code(request, list(request.code))
        async with self._use() as connection:
            asked = request.namespace, request.queues
            limited = await self._limits.among(connection, *asked)
            held = await _claim_in_turn(connection, request, limited)
            if not held:
                others = await self._limits.among(connection, *asked, fresh=True)
                held = await _claim_in_turn(connection, request, others) if others != limited else []
        return held

    async def _claim_by_code(self, request: ClaimRequest, code: list[str]) -> list[HeldTask]:
        """Alternates between queues with limits and tasks of all others: neither waits for the backlog of the other."""
        self._turn += 1
        async with self._use() as connection:
            limited = [(row[0], row[1]) for row in await connection.fetch(SQL["limited_by_code"], code)]
            places: list[tuple[str, str] | None] = [None, *limited]
            first = self._turn % len(places)
            held: list[HeldTask] = []
            for place in places[first:] + places[:first]:
                left = request.limit - len(held)
                if left and place is None:
                    terms = (request.claim, request.worker, request.lease, TIMEOUT_GRACE)
                    held += _in_order(await connection.fetch(SQL["claim_by_code"], code, left, *terms))
                elif left and place is not None:
                    there = msgspec.structs.replace(request, namespace=place[0])
                    async with connection.transaction():
                        held += await _claim_under_limits(connection, there, place[1], left)
        return held

    async def limited(self, namespace: str, queues: Sequence[str]) -> bool:
        async with self._use() as connection:
            return bool(await self._limits.among(connection, namespace, queues))

    async def unclaimed(self) -> list[tuple[str, str]]:
        return [(row["namespace"], row["queue"]) for row in await self._fetch("unclaimed")]

    async def lengths(self) -> list[QueueLength]:
        return [QueueLength(*row) for row in await self._fetch("lengths")]

    async def beat(self, claim: Claim, progress: Raw | None) -> bool:
        given = None if progress is None else text(progress)
        return await self._value("beat", *astuple(claim), given) is not None

    async def release(self, claim: Claim) -> bool:
        return await self._value("release", *astuple(claim), self._origin) is not None

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


# -- under limits ------------------------------------------------------------------------------------------------------


class LimitedQueues:
    """The queues with limits, slightly stale. The common claim statement skips them itself, so an unknown one only
    waits a moment longer."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()
        self._until = 0.0

    async def among(
        self, connection: Connection, namespace: str, queues: Sequence[str], *, fresh: bool = False
    ) -> list[str]:
        """The queues among these that have limits. `fresh`: as of now, for a worker that has found nothing and would
        wait."""
        if fresh or time.monotonic() >= self._until:
            self._known = {(row[0], row[1]) for row in await connection.fetch(QUEUES["limited"])}
            self._until = time.monotonic() + _KNOWN_FOR
        if not self._known:
            return []
        every = (namespace, EVERY_QUEUE) in self._known
        return [queue for queue in queues if every or (namespace, queue) in self._known]


async def _claim_in_turn(connection: Connection, request: ClaimRequest, limited: Collection[str]) -> list[HeldTask]:
    """Claims queue by queue, in the worker's order. Consecutive ones without limits are one statement, which skips
    those that have got limits meanwhile."""
    held: list[HeldTask] = []
    for has_limits, queues in groupby(request.queues, lambda queue: queue in limited):
        if not has_limits and len(held) < request.limit:
            held += await _claim_freely(connection, request, list(queues), request.limit - len(held))
        for queue in queues if has_limits else ():
            if len(held) < request.limit:
                async with connection.transaction():
                    held += await _claim_under_limits(connection, request, queue, request.limit - len(held))
    return held


async def _claim_freely(connection: Connection, request: ClaimRequest, queues: list[str], limit: int) -> list[HeldTask]:
    wanted = (request.namespace, queues, _listed(request.kinds), _listed(request.handlers), limit)
    terms = (request.claim, request.worker, request.lease, TIMEOUT_GRACE)
    return _in_order(await connection.fetch(SQL["claim"], *wanted, *terms))


async def _claim_under_limits(connection: Connection, request: ClaimRequest, queue: str, limit: int) -> list[HeldTask]:
    namespace = request.namespace
    asked = (namespace, queue, _listed(request.kinds), _listed(request.handlers), _listed(request.code))
    if not await connection.fetch(SQL["free_under_limits"], *asked, [], 1):
        return []  # an idle worker must not delay admission
    limits = limits_of(map(tuple, await connection.fetch(QUEUES["lock_limits"], namespace, queue)))
    now: Millis = await connection.fetchval(QUEUES["now"])
    await settle_starts(connection, namespace, limits, "task", now)
    gate = await gate_of(connection, namespace, limits, "task", now, request.worker)
    chosen = await choose(connection, gate, SQL["free_under_limits"], asked, limit)
    if not chosen:
        return []
    terms = (request.claim, request.worker, request.lease, TIMEOUT_GRACE)
    found = await connection.fetch(SQL["claim_under_limits"], [id for id, _ in chosen], *terms)
    await note_starts(connection, namespace, limits, "task", [row["partition"] for row in found], now)
    return _in_order(found)


def _in_order(found: list[Any]) -> list[HeldTask]:
    return held_tasks(map(tuple, sorted(found, key=lambda row: (row["priority"], row["id"]))))


# -- in a commit -------------------------------------------------------------------------------------------------------


async def write_queues(connection: Connection, writes: Sequence[Write]) -> None:
    """Writes what decisions of different runs enqueue and revoke."""
    dequeued = [(write.run_id, token) for write in writes for token in write.dequeued]
    if dequeued:
        await connection.execute(SQL["dequeue"], *zip(*dequeued, strict=True))
    queued = {
        (task.run_id, task.token): (*queued_columns(task), task.code or None)
        for write in writes
        for task in write.queued
    }
    if queued:
        await connection.execute(SQL["enqueue"], *zip(*queued.values(), strict=True))


async def write_reports(connection: Connection, writes: Sequence[Write], origin: str) -> None:
    """Ends the tasks of workers' results; no claim twice."""
    ended = [astuple(claim) for write in writes if (claim := write.finished) is not None]
    sent = [inbox_columns(row) for write in writes for row in write.inbox]
    given = (*zip(*ended, strict=True), *zip(*sent, strict=True), origin)
    if not await connection.fetchval(SQL["report"], *given):
        raise ClaimLost


async def has_results(connection: Connection, write: Write) -> bool:
    """Whether the inputs of a write are in the inbox already."""
    known = [(row.run_id, row.key) for row in write.inbox]
    return not known or await connection.fetchval(SQL["has_inputs"], *zip(*known, strict=True)) == len(known)


def _listed(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)
