"""The group commit on PostgreSQL: the writes of many runs as one transaction.

Most decisions consist of log rows, new and changed run rows, inputs taken or sent, and timers. Those of all writes
together go to the server as one statement, which is a transaction of its own: one round trip, one fsync.
Rarer rows follow in the same transaction, a statement a table. Only when an epoch is refused or a constraint
broken are the writes looked at one by one, to find out which; that never happens to a healthy owner.

A run's row in `shards` stays locked until the commit: whoever takes the shard over gets it after, or not yet.
"""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
from msgspec.structs import replace

from plait.kernel.ids import RunId
from plait.kernel.store import RunPatch, RunRow, TimerRow, Verdict, Write
from plait.stores.rows import Row, label_columns, patch_columns, reply_column, run_columns

from .database import SQL, Connection
from .rare import columns, is_rare, sends_late, timer_columns, times_late, withdrawal, write_rare
from .run_texts import error_columns, text_columns
from .task_queues import ClaimLost, has_results

_RUN, _LOG, _PATCH, _TAKEN, _SENT, _WITHDRAWN, _CLEARED, _TIMER = 23, 6, 11, 3, 5, 2, 2, 4
_LABEL, _TEXT, _FAILURE = 5, 5, 2
"""How many columns each kind of row has."""


async def commit(connection: Connection, writes: Sequence[Write], origin: str) -> list[Verdict]:
    try:
        if await _at_once(connection, writes, origin):
            return ["ok"] * len(writes)
    except (asyncpg.UniqueViolationError, ClaimLost):
        pass
    async with connection.transaction():
        return await _with_care(connection, writes, origin)


async def _at_once(connection: Connection, writes: Sequence[Write], origin: str) -> bool:
    """False when an epoch was refused; then nothing is written."""
    if len({write.run_id for write in writes}) == len(writes) and not any(is_rare(write) for write in writes):
        return await _write_common(connection, writes, _proof(writes), origin)
    async with connection.transaction():
        return await _apply(connection, writes, origin)


async def _with_care(connection: Connection, writes: Sequence[Write], origin: str) -> list[Verdict]:
    verdicts = await _fence(connection, writes)
    sound = [write for write, verdict in zip(writes, verdicts, strict=True) if verdict == "ok"]
    try:
        async with connection.transaction():  # a savepoint
            await _apply(connection, sound, origin)
    except (asyncpg.UniqueViolationError, ClaimLost):
        for index, write in enumerate(writes):
            if verdicts[index] == "ok":
                verdicts[index] = await _apply_one(connection, write, origin)
    return verdicts


async def _fence(connection: Connection, writes: Sequence[Write]) -> list[Verdict]:
    shards = {write.shard for write in writes if write.epoch is not None}
    held = dict(map(tuple, await connection.fetch(SQL["hold_epochs"], list(shards))))
    return ["ok" if write.epoch is None or held[write.shard] == write.epoch else "fenced" for write in writes]


async def _apply_one(connection: Connection, write: Write, origin: str) -> Verdict:
    try:
        async with connection.transaction():
            await _apply(connection, [write], origin)
    except ClaimLost:
        return "exists" if await has_results(connection, write) else "conflict"
    except asyncpg.UniqueViolationError:
        return "exists" if write.create is not None else "conflict"
    return "ok"


async def _apply(connection: Connection, writes: Sequence[Write], origin: str) -> bool:
    proof = _proof(writes)
    for wave in waves(writes):
        if not await _write_common(connection, wave, proof, origin):
            return False
        await write_rare(connection, wave)
        proof = ((), ())
    return True


def waves(writes: Sequence[Write]) -> list[list[Write]]:
    """Writes of one run in the order they came, each in a wave of its own; those of different runs together."""
    found: list[list[Write]] = []
    depth: dict[RunId, int] = {}
    for write in writes:
        place = depth.get(write.run_id, 0)
        depth[write.run_id] = place + 1
        if place == len(found):
            found.append([])
        found[place].append(write)
    return found


def _proof(writes: Sequence[Write]) -> tuple[Sequence[int], Sequence[int]]:
    pairs = {(write.shard, write.epoch) for write in writes if write.epoch is not None}
    return [shard for shard, _ in pairs], [epoch for _, epoch in pairs]


async def _write_common(
    connection: Connection, writes: Sequence[Write], proof: tuple[Sequence[int], Sequence[int]], origin: str
) -> bool:
    runs: list[RunRow] = []
    failures: list[Row] = []
    logs: list[Row] = []
    patches: list[Row] = []
    taken: list[Row] = []
    sent: list[Row] = []
    emptied: list[str] = []
    withdrawn = [(w.run_id, c.at) for w in writes if w.approvals and (c := withdrawal(w)) is not None]
    cleared: list[Row] = []
    timers: list[TimerRow] = []
    news = False
    for write in writes:
        run_id = write.run_id
        if write.create is not None:
            runs.append(_first_row(write.create, write))
        elif write.patch is not None:
            patches.append(patch_columns(run_id, write.patch))
            failures += error_columns(run_id, write.patch)
        if write.copies:
            logs += [(run_id, c.seq, c.count, c.at, c.events.decode(), c.blobs) for c in write.copies]
        if write.log is not None:
            row = write.log
            logs.append((run_id, row.seq, row.count, row.at, row.events.decode(), row.blobs))
        if write.taken:
            replies = {t.key: reply_column(t) for t in write.taken}
            taken += [(run_id, key, reply) for key, reply in replies.items()]
        if write.inbox and not sends_late(write):
            sent += [(row.run_id, row.shard, row.key, row.body.decode(), row.at) for row in write.inbox]
        if write.clear_all:
            emptied.append(run_id)
        if write.cleared:
            cleared += [(run_id, token) for token in write.cleared]
        if write.timers and not times_late(write):
            timers += write.timers
        news = news or _is_news(write)
    return await connection.fetchval(
        SQL["commit"],
        *proof,
        *columns([run_columns(row) for row in runs], _RUN),
        *columns(logs, _LOG),
        *columns(patches, _PATCH),
        *columns(taken, _TAKEN),
        *columns(sent, _SENT),
        emptied,
        *columns(withdrawn, _WITHDRAWN),
        *columns(cleared, _CLEARED),
        *columns(timer_columns(timers), _TIMER),
        origin if news else None,
        *columns([label for row in runs for label in label_columns(row)], _LABEL),
        *columns([text for row in runs for text in text_columns(row)], _TEXT),
        *columns(failures, _FAILURE),
    )


def _first_row(row: RunRow, write: Write) -> RunRow:
    """A run's row as its first write leaves it: one statement can't insert a row and change it too."""
    patch = write.patch
    if patch is None:
        return row
    return replace(
        row,
        status=patch.status,
        awake=patch.awake,
        ended_at=patch.ended_at,
        output=patch.output,
        error=patch.error,
        blocked=patch.blocked,
        recoveries=patch.recoveries,
        full=patch.full,
        waiting=patch.waiting,
        past=patch.past,
    )


def _is_news(write: Write) -> bool:
    """Whether another process may wait for it: an input, a new run, an answer, a task, a run whose place in lists
    changes."""
    return bool(
        write.create is not None
        or write.inbox
        or write.children
        or write.taken
        or write.queued
        or (write.patch is not None and _is_shown(write.patch))
    )


def _is_shown(patch: RunPatch) -> bool:
    return patch.status != "running" or patch.blocked is not None or patch.waiting is not None
