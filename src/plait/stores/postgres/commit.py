"""The group commit on PostgreSQL: the writes of many runs as one transaction.

Most decisions consist of log rows, new and changed run rows, inputs taken or sent, and timers. Those of all writes
together go to the server as one statement, which is a transaction by itself: one round trip, one fsync. Rarer rows
follow in the same transaction, one statement per table. Only if an epoch is refused or a constraint broken are the
writes applied one by one, to find out which; that never happens to a healthy owner.

A shard's row stays locked until the commit: a takeover gets it after, or not yet.
"""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from plait.kernel.ids import RunId
from plait.kernel.queued import Claim
from plait.kernel.store import Verdict, Write
from plait.stores.record_versions import RecordChanged

from .common import Numbers, Proof, Session, write_common
from .database import SQL, Connection
from .rare import is_rare, write_rare
from .removals import NotRemovable
from .run_queues import NotWaiting
from .task_queues import ClaimLost, has_results, write_reports

_REFUSED = (
    asyncpg.UniqueViolationError,
    asyncpg.NotNullViolationError,
    ClaimLost,
    NotRemovable,
    NotWaiting,
    RecordChanged,
)
"""Failures of a single write: its place is taken, there is no such run, its claim is lost, it removes a run that is
needed, it replaces the start of a run that no longer waits, or a record has changed."""


async def commit(session: Session, writes: Sequence[Write]) -> list[Verdict]:
    try:
        found = await session.numbers.find(session.connection, writes)
        if await _at_once(session, writes, found):
            session.numbers.remember(found)
            return ["ok"] * len(writes)
    except _REFUSED:
        pass
    async with session.connection.transaction():
        return await _with_care(session, writes)


async def _at_once(session: Session, writes: Sequence[Write], found: Numbers) -> bool:
    """False if an epoch was refused; then nothing is written."""
    if len({write.run_id for write in writes}) == len(writes) or len(waves(writes)) == 1:
        if writes and all(write.finished is not None for write in writes):
            await write_reports(session.connection, writes, session.origin)
            return True
        if not any(is_rare(write) for write in writes):
            return await write_common(session, writes, found, _proof(writes))
    async with session.connection.transaction():
        return await _apply(session, writes, found)


async def _with_care(session: Session, writes: Sequence[Write]) -> list[Verdict]:
    connection = session.connection
    verdicts = await _fence(connection, writes)
    sound = [write for write, verdict in zip(writes, verdicts, strict=True) if verdict == "ok"]
    try:
        async with connection.transaction():  # a savepoint
            await _apply(session, sound, await session.numbers.find(connection, sound))
    except _REFUSED:
        for index, write in enumerate(writes):
            if verdicts[index] == "ok":
                verdicts[index] = await _apply_one(session, write)
    return verdicts


async def _fence(connection: Connection, writes: Sequence[Write]) -> list[Verdict]:
    shards = {write.shard for write in writes if write.epoch is not None}
    held = dict(map(tuple, await connection.fetch(SQL["hold_epochs"], list(shards))))
    return ["ok" if write.epoch is None or held.get(write.shard) == write.epoch else "fenced" for write in writes]


async def _apply_one(session: Session, write: Write) -> Verdict:
    connection = session.connection
    try:
        async with connection.transaction():
            await _apply(session, [write], await session.numbers.find(connection, [write]))
    except ClaimLost:
        return "exists" if await has_results(connection, write) else "conflict"
    except _REFUSED:
        return "exists" if write.create is not None else "conflict"
    return "ok"


async def _apply(session: Session, writes: Sequence[Write], found: Numbers) -> bool:
    proof = _proof(writes)
    for wave in waves(writes):
        decided = [write for write in wave if write.finished is None]
        if decided:
            if not await write_common(session, decided, found, proof):
                return False
            await write_rare(session.connection, session.numbers, session.origin, decided)
            proof = ((), ())
        if len(decided) < len(wave):
            reports = [write for write in wave if write.finished is not None]
            await write_reports(session.connection, reports, session.origin)
    return True


def waves(writes: Sequence[Write]) -> list[list[Write]]:
    """Groups writes so that those of one run keep their order, each in its own wave; those of different runs share
    waves, as do consecutive inputs for one run. No wave ends a claim twice."""
    found: list[list[Write]] = []
    last: dict[RunId, tuple[int, bool]] = {}
    ended: set[Claim] = set()
    for write in writes:
        sends = bool(write.inbox) and write.epoch is None and write.create is None and write.finished not in ended
        place, sent = last.get(write.run_id, (-1, False))
        if not (sends and sent):
            place += 1
        last[write.run_id] = place, sends
        if write.finished is not None:
            ended.add(write.finished)
        if place == len(found):
            found.append([])
        found[place].append(write)
    return found


def _proof(writes: Sequence[Write]) -> Proof:
    pairs = {(write.shard, write.epoch) for write in writes if write.epoch is not None}
    return [shard for shard, _ in pairs], [epoch for _, epoch in pairs]
