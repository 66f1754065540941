"""Queued runs, and the limits of queues, on SQLite. All statements are in `run_queues.sql`."""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import apsw

from plait.kernel.admission import NO_LIMITS, Gate, Limit, QueueSettings
from plait.kernel.clock import Clock
from plait.kernel.ids import Millis, RunId, caller_id
from plait.kernel.run_queues import MANY, AdmissionRound, QueuedRun, QueuePlace, QueueState, RunBacklog, SlotHolder
from plait.kernel.store import InboxRow, NewChild, Write, refusal_key
from plait.stores import statements
from plait.stores.columns import MAYBE_NUMBER, check_types
from plait.stores.queue_rows import (
    AT_ONCE,
    ROUNDS,
    Kind,
    limit_name,
    limits_of,
    load_of,
    place_columns,
    readable_states,
    settings_of,
    settings_text,
    slot_holder,
    sooner,
)
from plait.stores.rows import inbox_columns, json_text, text

from .database import atomic
from .undecodable import fetch_all

T = TypeVar("T")

SQL = statements.load("plait.stores.sqlite", "run_queues.sql")


class NotWaiting(Exception):
    """A run whose start is to be replaced has left its queue."""


class _Writing(Protocol):
    def __call__(self, work: Callable[[apsw.Connection], T], /) -> Awaitable[T]: ...


class _Reading(Protocol):
    def __call__(self, work: Callable[[apsw.Connection], T], /) -> Awaitable[T]: ...


class SqliteRunQueues:
    def __init__(self, write: _Writing, read: _Reading, clock: Clock) -> None:
        self._write = write
        self._read = read
        self._clock = clock

    async def queues(self) -> list[tuple[str, str]]:
        return [(namespace, queue) for namespace, queue in await self._list("queues")]

    async def admit(self, namespace: str, queue: str, limit: int) -> AdmissionRound:
        now = self._clock.now()

        def take(db: apsw.Connection) -> AdmissionRound:
            with atomic(db):
                return _admit(db, namespace, queue, limit, now)

        return await self._write(take)

    async def holder(self, namespace: str, queue: str, dedup_id: str) -> RunId | None:
        found = await self._list("holder", namespace, queue, dedup_id)
        return found[0][0] if found else None

    async def place(self, run_id: RunId) -> QueuePlace | None:
        now = self._clock.now()
        return await self._read(lambda db: _place(db, run_id, now))

    async def waiting(self, namespace: str, queue: str, partition: str | None) -> int:
        return (await self._list("count_waiting", namespace, queue, partition))[0][0]

    async def settings(self, namespace: str, queue: str) -> QueueSettings | None:
        found = await self._list("get_settings", namespace, queue)
        return settings_of(found[0][0], queue) if found else None

    async def change(
        self, namespace: str, queue: str, change: Callable[[QueueSettings], QueueSettings]
    ) -> QueueSettings:
        def put(db: apsw.Connection) -> QueueSettings:
            with atomic(db):
                found = db.execute(SQL["get_settings"], (namespace, queue)).fetchone()
                settings = change(NO_LIMITS if found is None else settings_of(found[0], queue))
                db.execute(SQL["set"], (namespace, queue, settings_text(settings)))
                db.execute(SQL["count_claimed"], (namespace, queue))
                return settings

        return await self._write(put)

    async def states(self, namespace: str) -> list[QueueState]:
        return readable_states(namespace, await self._list("states", namespace))

    async def backlogs(self) -> list[RunBacklog]:
        return [RunBacklog(*row) for row in await self._list("backlogs")]

    async def holders(self, namespace: str, queue: str, limit: int) -> list[SlotHolder]:
        return [slot_holder(row) for row in await self._list("holders", namespace, queue, limit)]

    async def _list(self, name: str, *args: object) -> list[Any]:
        def fetch(db: apsw.Connection) -> list[Any]:
            return fetch_all(db, SQL[name], args)

        return await self._read(fetch)


def limits_on(db: apsw.Connection, namespace: str, queue: str) -> dict[str, QueueSettings]:
    """The limits of a queue, and of all queues of its namespace together; most have none."""
    return limits_of(db.execute(SQL["limits"], (namespace, queue)))


# -- admitting ---------------------------------------------------------------------------------------------------------


def _admit(db: apsw.Connection, namespace: str, queue: str, limit: int, now: Millis) -> AdmissionRound:
    db.execute(SQL["sweep"], (namespace, queue))
    db.execute(SQL["ripe"], (namespace, queue, now))
    overdue = [row[0] for row in db.execute(SQL["overdue"], (namespace, queue, now, limit))]
    limits = limits_on(db, namespace, queue)
    settle_starts(db, namespace, limits, "run", now)
    gate = gate_of(db, namespace, limits, "run", now)
    by_engine = gate.counts_workers
    statement = "next_by_engine" if by_engine else "next"
    chosen = choose(db, gate, statement, (namespace, queue), limit, by_engine=by_engine)
    for _, partition in chosen:
        note_start(db, namespace, limits, "run", partition, now)
    admitted = [next(db.execute(SQL["admit"], (id, now)))[0] for id, _ in chosen]
    for run_id in admitted:
        db.execute(SQL["let_go"], (run_id,))
    [(due,)] = db.execute(SQL["next_due"], (namespace, queue))
    [(deadline,)] = db.execute(SQL["next_deadline"], (namespace, queue))
    left = db.execute(SQL["any_waiting"], (namespace, queue)).fetchone() is not None
    return AdmissionRound(admitted=admitted, overdue=overdue, wait=sooner(now, gate.wait, due, deadline), left=left)


def gate_of(
    db: apsw.Connection,
    namespace: str,
    limits: dict[str, QueueSettings],
    kind: Kind,
    now: Millis,
    worker: str | None = None,
) -> Gate:
    """The gate with the current counts. `worker`: the process that polls for tasks."""
    found: list[Limit] = []
    for name, settings in limits.items():
        running: list[Any] = []
        starts: list[Any] = []
        workers: list[Any] = []
        if settings.concurrency is not None:
            running = db.execute(SQL[f"running_{kind}s"], (namespace, name)).fetchall()
        if settings.per_worker is not None:
            asked = (namespace, name) if worker is None else (namespace, name, worker)
            workers = db.execute(SQL[f"{kind}s_of_processes"], asked).fetchall()
        if settings.rate is not None:
            starts = db.execute(SQL["starts"], (namespace, name, kind, now - settings.period)).fetchall()
        found.append(Limit(settings, load_of(running, starts, workers, now), limit_name(name)))
    return Gate(found, worker)


def choose(
    db: apsw.Connection,
    gate: Gate,
    name: str,
    asked: tuple[object, ...],
    limit: int,
    sql: dict[str, str] = SQL,
    *,
    by_engine: bool = False,
) -> list[tuple[int, str]]:
    """The (id, key) pairs that may start, of those that a statement returns. Keys and engines at their limits are
    skipped."""
    chosen: list[tuple[int, str]] = []
    seen: set[int] = set()
    for _ in range(ROUNDS):
        if len(chosen) >= limit or gate.is_closed:
            break
        full = json_text(gate.full) if gate.full else None
        engines = (json_text(gate.full_workers),) if by_engine else ()
        waiting: list[Any] = db.execute(sql[name], (*asked, full, AT_ONCE + len(chosen), *engines)).fetchall()
        new = [row for row in waiting if row[0] not in seen]
        seen.update(row[0] for row in new)
        for id, partition, *engine in new:
            if len(chosen) < limit and gate.admits(partition, *engine):
                chosen.append((id, partition))
        if len(waiting) < AT_ONCE or not new:
            break
    return chosen


def settle_starts(
    db: apsw.Connection, namespace: str, limits: dict[str, QueueSettings], kind: Kind, now: Millis
) -> None:
    """Corrects starts before they are counted."""
    for name, settings in limits.items():
        if settings.rate is not None:
            db.execute(SQL["settle_starts"], (namespace, name, kind, now))


def note_start(
    db: apsw.Connection, namespace: str, limits: dict[str, QueueSettings], kind: Kind, partition: str, now: Millis
) -> None:
    """Records a start, if a rate limit counts it."""
    for name, settings in limits.items():
        if settings.rate is not None:
            db.execute(SQL["forget_starts"], (namespace, name, kind, now - settings.period))
            db.execute(SQL["note_start"], (namespace, name, kind, partition, now))


def _place(db: apsw.Connection, run_id: RunId, now: Millis) -> QueuePlace | None:
    found = db.execute(SQL["place"], (run_id,)).fetchone()
    if found is None:
        return None
    namespace, queue, partition, priority, id, due, engine = found
    check_types((due,), {0: ("due", MAYBE_NUMBER)}, f"run {caller_id(run_id)} on queue {queue}")
    [(ahead,)] = db.execute(SQL["ahead"], (namespace, queue, priority, id, MANY))
    limits = limits_on(db, namespace, queue)
    why = gate_of(db, namespace, limits, "run", now).why(partition, engine)
    return QueuePlace(queue=queue, ahead=ahead, due=due if due is not None and due > now else None, why=why)


# -- in a commit -------------------------------------------------------------------------------------------------------


def write_place(db: apsw.Connection, write: Write) -> None:
    """Puts a run on a queue, takes it off, or replaces its start; after its inbox was written."""
    if write.place is not None and write.create is not None:
        put(db, write.run_id, write.place, write.create.created_at)
    if write.leaves_queue:
        leave(db, write.run_id)
    if write.debounce is not None:
        _debounce(db, write.run_id, write.inbox[0], write.debounce)


def put(db: apsw.Connection, run_id: RunId, place: QueuedRun, now: Millis) -> None:
    """Queues a run, and holds back its start."""
    if place.dedup_id is not None:
        db.execute(SQL["forget_holder"], (place.namespace, place.queue, place.dedup_id))
    *columns, delay, deadline = place_columns(run_id, place)
    db.execute(SQL["put"], (*columns, None if delay is None else now + delay, deadline, now))
    db.execute(SQL["hold"], (run_id,))


def leave(db: apsw.Connection, run_id: RunId) -> None:
    """Takes a waiting run off its queue, and releases its held-back inputs to the owner."""
    db.execute(SQL["leave"], (run_id,))
    if db.changes():
        db.execute(SQL["let_go"], (run_id,))


def is_taken(db: apsw.Connection, place: QueuedRun) -> bool:
    """Whether a run has its dedup id."""
    asked = (place.namespace, place.queue, place.dedup_id)
    return place.dedup_id is not None and db.execute(SQL["holder"], asked).fetchone() is not None


def is_refused(db: apsw.Connection, child: NewChild) -> bool:
    """Whether its parent has not yet read that it can't be started."""
    asked = (child.row.parent, refusal_key(child.row.id))
    return db.execute(SQL["refused"], asked).fetchone() is not None


def _debounce(db: apsw.Connection, run_id: RunId, start: InboxRow, delay: Millis) -> None:
    db.execute(SQL["delay"], (run_id, start.at + delay))
    if not db.changes():
        raise NotWaiting
    db.execute(SQL["put_start"], (run_id, start.key, text(start.body), start.at))


def is_waiting(db: apsw.Connection, row: InboxRow) -> bool:
    return db.execute(SQL["waits"], (row.run_id,)).fetchone() is not None


def insert_held(db: apsw.Connection, row: InboxRow) -> None:
    db.execute(SQL["insert_held"], inbox_columns(row))
