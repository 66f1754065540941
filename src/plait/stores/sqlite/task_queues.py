"""Queued tasks on SQLite: the workers' operations. All statements are in `task_queues.sql`."""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import apsw
from msgspec import Raw
from msgspec.structs import astuple

from plait.kernel.clock import Clock
from plait.kernel.ids import SHARDS, Millis, RunId, Shard, TaskToken
from plait.kernel.queued import (
    TIMEOUT_GRACE,
    Claim,
    ClaimRequest,
    Expired,
    HeldTask,
    QueuedTask,
    QueueLength,
    SeenWorker,
)
from plait.kernel.store import Write
from plait.stores import statements
from plait.stores.rows import json_text, text
from plait.stores.task_rows import FORGET_AFTER, expired_claim, held_task, held_tasks, queued_columns

from .database import atomic, without_waiting
from .run_queues import SQL as QUEUES
from .run_queues import choose, gate_of, limits_on, note_start, settle_starts
from .undecodable import fetch_all

T = TypeVar("T")

SQL = statements.load("plait.stores.sqlite", "task_queues.sql")


class ClaimLost(Exception):
    """The claim that a write ends is not valid."""


class _Writing(Protocol):
    def __call__(self, work: Callable[[apsw.Connection], T], /) -> Awaitable[T]: ...


class SqliteTaskQueues:
    def __init__(self, write: _Writing, rows: Callable[[str, tuple[object, ...]], list[Any]], clock: Clock) -> None:
        self._write = write
        self._rows = rows
        self._clock = clock

    async def claim(self, request: ClaimRequest) -> list[HeldTask]:
        wanted = _wanted(request)
        if not self._rows(SQL["any_free"], wanted):  # by the reader: an idle worker must not delay writes
            return []
        now = self._clock.now()
        terms = (request.claim, request.worker, now, request.lease, TIMEOUT_GRACE)

        def take(db: apsw.Connection) -> list[HeldTask]:
            # A claim undone by a power cut is no claim, and its worker's result is late
            with without_waiting(db), atomic(db):
                found: list[HeldTask] = []
                for queue in request.queues:  # one after the other: a claim on one may count for the next
                    free, limited = _free(db, request, (wanted[0], queue, *wanted[2:]), request.limit - len(found), now)
                    found += held_tasks(_claimed(db, id, (id, *terms, limited)) for id in free)
                return found

        return await self._write(take)

    async def limited(self, namespace: str, queues: Sequence[str]) -> bool:
        return bool(self._rows(QUEUES["any_limits"], (namespace, json_text(list(queues)))))

    async def unclaimed(self) -> list[tuple[str, str]]:
        return [(namespace, queue) for namespace, queue in self._rows(SQL["unclaimed"], ())]

    async def lengths(self) -> list[QueueLength]:
        return [QueueLength(*row) for row in self._rows(SQL["lengths"], ())]

    async def beat(self, claim: Claim, progress: Raw | None) -> bool:
        given = None if progress is None else text(progress)
        return await self._changed("beat", *astuple(claim), self._clock.now(), given)

    async def release(self, claim: Claim) -> bool:
        return await self._changed("release", *astuple(claim))

    async def held(self, run_id: RunId, token: TaskToken | None = None) -> list[HeldTask]:
        return [held_task(row) for row in self._rows(SQL["held"], (run_id, token))]

    async def expired(self, shards: Collection[Shard], limit: int) -> Expired:
        listed = None if len(shards) == SHARDS else json_text(list(shards))
        now = self._clock.now()
        if self._rows(SQL["any_set_back"], (now,)):
            await self._changed("set_back", now, TIMEOUT_GRACE)
        found = self._rows(SQL["expired"], (listed, now, limit))
        claims = [expired_claim(row) for row in found]
        return Expired(claims, bool(claims or self._rows(SQL["any_queued"], (listed,))))

    async def note_worker(self, namespace: str, queues: Collection[str], worker: str) -> None:
        now = self._clock.now()

        def note(db: apsw.Connection) -> None:
            with atomic(db):
                db.execute(SQL["forget_workers"], (now - FORGET_AFTER,))
                db.executemany(SQL["note_worker"], [(namespace, queue, worker, now) for queue in queues])

        await self._write(note)

    async def workers(self, namespace: str, within: Millis) -> list[SeenWorker]:
        since = self._clock.now() - within
        return [SeenWorker(*row) for row in self._rows(SQL["seen_workers"], (namespace, since))]

    async def _changed(self, name: str, *args: object) -> bool:
        def change(db: apsw.Connection) -> bool:
            with atomic(db):
                db.execute(SQL[name], args)
                return db.changes() > 0

        return await self._write(change)


# -- in a commit -------------------------------------------------------------------------------------------------------


def write_queues(db: apsw.Connection, write: Write) -> None:
    """Writes what a decision enqueues and revokes, and ends the task of a worker's result."""
    run_id = write.run_id
    if write.dequeued:
        db.executemany(SQL["dequeue"], [(run_id, token) for token in write.dequeued])
    if write.queued:
        db.executemany(SQL["enqueue"], _columns(write.queued))
    if write.finished is not None:
        db.execute(SQL["finish"], astuple(write.finished))
        if not db.changes():
            raise ClaimLost


def has_results(db: apsw.Connection, write: Write) -> bool:
    """Whether the inputs of a write are in the inbox already."""
    return all(db.execute(SQL["has_input"], (row.run_id, row.key)).fetchone() is not None for row in write.inbox)


def _free(
    db: apsw.Connection, request: ClaimRequest, asked: tuple[Any, ...], limit: int, now: Millis
) -> tuple[list[int], bool]:
    """The next tasks of a queue, and whether it has limits."""
    namespace, queue = asked[:2]
    limits = limits_on(db, namespace, queue)
    if not limits:
        return [row[0] for row in db.execute(SQL["free"], (*asked, limit))], False
    settle_starts(db, namespace, limits, "task", now)
    gate = gate_of(db, namespace, limits, "task", now, request.worker)
    chosen = choose(db, gate, "free_under_limits", asked, limit, SQL)
    for _, partition in chosen:
        note_start(db, namespace, limits, "task", partition, now)
    return [id for id, _ in chosen], True


def _claimed(db: apsw.Connection, id: int, terms: tuple[object, ...]) -> Any:
    with suppress(UnicodeDecodeError):  # then it is claimed, and decoded separately
        return next(db.execute(SQL["claim"], terms))
    return fetch_all(db, SQL["claimed"], (id,))[0]


def _columns(tasks: Sequence[QueuedTask]) -> list[tuple[Any, ...]]:
    return [queued_columns(task) for task in tasks]


def _wanted(request: ClaimRequest) -> tuple[object, ...]:
    kinds, handlers = request.kinds, request.handlers
    return (
        request.namespace,
        json_text(list(request.queues)),
        None if kinds is None else json_text(list(kinds)),
        None if handlers is None else json_text(list(handlers)),
    )
