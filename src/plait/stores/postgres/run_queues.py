"""Queued runs, and the limits of queues, on PostgreSQL. All statements are in `run_queues.sql`.

Admission under limits locks their rows until its commit: the counts can't grow meanwhile in another process, so no
limit is ever exceeded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from msgspec.structs import replace

from plait.kernel.admission import NO_LIMITS, Gate, Limit, QueueSettings
from plait.kernel.ids import Millis, RunId
from plait.kernel.run_queues import MANY, AdmissionRound, QueuePlace, QueueState, RunBacklog, SlotHolder
from plait.kernel.store import InboxRow, NewChild, Write, refusal_key
from plait.stores import statements
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
from plait.stores.rows import Row, inbox_columns, text

from .database import SQL as COMMON
from .database import Connection

SQL = statements.load("plait.stores.postgres", "run_queues.sql")


class NotWaiting(Exception):
    """A run whose start is to be replaced has left its queue."""


class PostgresRunQueues:
    def __init__(self, use: Callable[[], AbstractAsyncContextManager[Connection]], origin: str) -> None:
        self._use = use
        self._origin = origin

    async def queues(self) -> list[tuple[str, str]]:
        return [(namespace, queue) for namespace, queue in await self._fetch("queues")]

    async def admit(self, namespace: str, queue: str, limit: int) -> AdmissionRound:
        async with self._use() as connection, connection.transaction():
            found = await _admit(connection, namespace, queue, limit)
            if found.admitted:
                await connection.execute(COMMON["notify"], self._origin)
            return found

    async def holder(self, namespace: str, queue: str, dedup_id: str) -> RunId | None:
        found = await self._fetch("holder", namespace, queue, dedup_id)
        return found[0][0] if found else None

    async def place(self, run_id: RunId) -> QueuePlace | None:
        async with self._use() as connection:
            return await _place(connection, run_id)

    async def waiting(self, namespace: str, queue: str, partition: str | None) -> int:
        return (await self._fetch("count_waiting", namespace, queue, partition))[0][0]

    async def settings(self, namespace: str, queue: str) -> QueueSettings | None:
        found = await self._fetch("get_settings", namespace, queue)
        return settings_of(found[0][0], queue) if found else None

    async def change(
        self, namespace: str, queue: str, change: Callable[[QueueSettings], QueueSettings]
    ) -> QueueSettings:
        async with self._use() as connection, connection.transaction():
            await connection.execute(SQL["add"], namespace, queue, settings_text(NO_LIMITS))
            settings = change(settings_of(await connection.fetchval(SQL["lock_settings"], namespace, queue), queue))
            await connection.execute(SQL["set"], namespace, queue, settings_text(settings))
            await connection.execute(SQL["count_claimed"], namespace, queue)
            await connection.execute(COMMON["notify"], self._origin)
        return settings

    async def states(self, namespace: str) -> list[QueueState]:
        return readable_states(namespace, map(tuple, await self._fetch("states", namespace)))

    async def backlogs(self) -> list[RunBacklog]:
        return [RunBacklog(*row) for row in await self._fetch("backlogs")]

    async def holders(self, namespace: str, queue: str, limit: int) -> list[SlotHolder]:
        return [slot_holder(tuple(row)) for row in await self._fetch("holders", namespace, queue, limit)]

    async def _fetch(self, name: str, *args: object) -> list[Any]:
        async with self._use() as connection:
            return await connection.fetch(SQL[name], *args)


# -- admitting ---------------------------------------------------------------------------------------------------------


async def _admit(connection: Connection, namespace: str, queue: str, limit: int) -> AdmissionRound:
    limits = limits_of(map(tuple, await connection.fetch(SQL["lock_limits"], namespace, queue)))
    now: Millis = await connection.fetchval(SQL["now"])  # after the lock: no start that counts is later
    await connection.execute(SQL["sweep"], namespace, queue)
    await connection.execute(SQL["ripe"], namespace, queue, now)
    overdue = [row[0] for row in await connection.fetch(SQL["overdue"], namespace, queue, now, limit)]
    await settle_starts(connection, namespace, limits, "run", now)
    gate = await gate_of(connection, namespace, limits, "run", now)
    by_engine = gate.counts_workers
    statement = SQL["next_by_engine" if by_engine else "next"]
    chosen = await choose(connection, gate, statement, (namespace, queue), limit, by_engine=by_engine)
    admitted: list[RunId] = []
    if chosen:
        await note_starts(connection, namespace, limits, "run", [partition for _, partition in chosen], now)
        found = await connection.fetch(SQL["admit"], [id for id, _ in chosen], now)
        admitted = [row[0] for row in found]
        await connection.execute(SQL["let_go"], admitted)
    [(due, deadline, left)] = await connection.fetch(SQL["next_moments"], namespace, queue)
    return AdmissionRound(admitted=admitted, overdue=overdue, wait=sooner(now, gate.wait, due, deadline), left=left)


async def gate_of(
    connection: Connection,
    namespace: str,
    limits: Mapping[str, QueueSettings],
    kind: Kind,
    now: Millis,
    worker: str | None = None,
) -> Gate:
    """The gate with the current counts. `worker`: the process that polls for tasks."""
    found: list[Limit] = []
    for name, settings in limits.items():
        running: Sequence[Any] = ()
        starts: Sequence[Any] = ()
        workers: Sequence[Any] = ()
        if settings.concurrency is not None:
            running = await connection.fetch(SQL[f"running_{kind}s"], namespace, name)
        if settings.per_worker is not None:
            asked = (namespace, name) if worker is None else (namespace, name, worker)
            workers = await connection.fetch(SQL[f"{kind}s_of_processes"], *asked)
        if settings.rate is not None:
            starts = await connection.fetch(SQL["starts"], namespace, name, kind, now - settings.period)
        load = load_of(_tuples(running), _tuples(starts), _tuples(workers), now)
        found.append(Limit(settings, load, limit_name(name)))
    return Gate(found, worker)


def _tuples(found: Sequence[Any]) -> list[Row]:
    return [tuple(row) for row in found]


async def choose(
    connection: Connection,
    gate: Gate,
    statement: str,
    asked: tuple[object, ...],
    limit: int,
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
        engines = (gate.full_workers,) if by_engine else ()
        waiting = await connection.fetch(statement, *asked, gate.full, AT_ONCE + len(chosen), *engines)
        new = [(id, partition, *engine) for id, partition, *engine in waiting if id not in seen]
        seen.update(row[0] for row in new)
        for id, partition, *engine in new:
            if len(chosen) < limit and gate.admits(partition, *engine):
                chosen.append((id, partition))
        if len(waiting) < AT_ONCE or not new:
            break
    return chosen


async def settle_starts(
    connection: Connection, namespace: str, limits: Mapping[str, QueueSettings], kind: Kind, now: Millis
) -> None:
    """Corrects starts under the lock, before they are counted."""
    for name, settings in limits.items():
        if settings.rate is not None:
            await connection.execute(SQL["settle_starts"], namespace, name, kind, now)


async def note_starts(
    connection: Connection,
    namespace: str,
    limits: Mapping[str, QueueSettings],
    kind: Kind,
    partitions: Sequence[str],
    now: Millis,
) -> None:
    """Records starts, if a rate limit counts them."""
    for name, settings in limits.items():
        if settings.rate is not None and partitions:
            await connection.execute(SQL["forget_starts"], namespace, name, kind, now - settings.period)
            await connection.execute(SQL["note_starts"], namespace, name, kind, list(partitions), now)


async def _place(connection: Connection, run_id: RunId) -> QueuePlace | None:
    found = await connection.fetchrow(SQL["place"], run_id)
    if found is None:
        return None
    namespace, queue, partition, priority, id, due, engine = found
    now: Millis = await connection.fetchval(SQL["now"])
    ahead = await connection.fetchval(SQL["ahead"], namespace, queue, priority, id, MANY)
    limits = limits_of(map(tuple, await connection.fetch(SQL["limits"], namespace, queue)))
    why = (await gate_of(connection, namespace, limits, "run", now)).why(partition, engine)
    return QueuePlace(queue=queue, ahead=ahead, due=due if due is not None and due > now else None, why=why)


# -- in a commit -------------------------------------------------------------------------------------------------------


async def write_places(connection: Connection, writes: Sequence[Write]) -> None:
    """Puts runs on queues, takes them off, or replaces their starts; after the inbox was written."""
    await _put(connection, writes)
    await withdraw(connection, [write.run_id for write in writes if write.leaves_queue])
    await _debounce(connection, [write for write in writes if write.debounce is not None])


async def _put(connection: Connection, writes: Sequence[Write]) -> None:
    places = [(write.run_id, place) for write in writes if (place := write.place) is not None]
    if not places:
        return
    taken = [(place.namespace, place.queue, place.dedup_id) for _, place in places if place.dedup_id is not None]
    if taken:
        await connection.execute(SQL["forget_holders"], *zip(*taken, strict=True))
    columns = [place_columns(run_id, place) for run_id, place in places]
    await connection.execute(SQL["put"], *zip(*columns, strict=True))
    await connection.execute(SQL["hold"], [run_id for run_id, _ in places])


async def withdraw(connection: Connection, run_ids: Sequence[RunId]) -> None:
    """Takes waiting runs off their queues, and releases their held-back inputs to the owners."""
    if run_ids:
        left = [row[0] for row in await connection.fetch(SQL["leave"], run_ids)]
        if left:
            await connection.execute(SQL["let_go"], left)


async def without_refused(connection: Connection, children: Sequence[NewChild]) -> Sequence[NewChild]:
    """The children without queued ones whose parents have not yet read their refusal."""
    queued = [child.row for child in children if child.queueing is not None]
    if not queued:
        return children
    asked = [(row.id, row.parent, refusal_key(row.id)) for row in queued]
    refused = {row[0] for row in await connection.fetch(SQL["refused"], *zip(*asked, strict=True))}
    return [child for child in children if child.row.id not in refused]


async def put_children(connection: Connection, children: Sequence[NewChild]) -> list[RunId]:
    """Puts new runs on their queues. Returns those whose dedup ids belong to other runs."""
    places = {child.row.id: child.queueing.place for child in children if child.queueing is not None}
    if not places:
        return []
    taken = [(place.namespace, place.queue, place.dedup_id) for place in places.values() if place.dedup_id is not None]
    if taken:
        await connection.execute(SQL["forget_holders"], *zip(*taken, strict=True))
    columns = [place_columns(run_id, place) for run_id, place in places.items()]
    put = {row[0] for row in await connection.fetch(SQL["put_children"], *zip(*columns, strict=True))}
    return [run_id for run_id in places if run_id not in put]


def started(child: NewChild) -> list[InboxRow]:
    """The inputs for a new child: its start, held back while it waits on a queue."""
    queueing = child.queueing
    if queueing is None:
        return [child.start]
    told = [] if queueing.announcement is None else [queueing.announcement]
    return [replace(child.start, behind=True), *told]


async def _debounce(connection: Connection, writes: Sequence[Write]) -> None:
    if not writes:
        return
    delays = [(write.run_id, write.debounce) for write in writes]
    if len(await connection.fetch(SQL["delay"], *zip(*delays, strict=True))) < len(delays):
        raise NotWaiting
    starts = [(row.run_id, row.key, text(row.body), row.at) for write in writes for row in write.inbox]
    await connection.execute(SQL["put_start"], *zip(*starts, strict=True))


async def send_behind(connection: Connection, rows: Sequence[InboxRow]) -> None:
    """Sends inputs to runs of which some may wait."""
    await connection.execute(SQL["insert_inbox"], *zip(*map(inbox_columns, rows), strict=True))
