"""Between queued tasks and a table's columns, which are the same in every SQL store."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.kernel.ids import Millis, caller_id
from plait.kernel.queued import ExpiredClaim, HeldTask, QueuedTask, Terms
from plait.kernel.values import NULL

from .rows import Row, decoded, json_text, text

FORGET_AFTER = Millis(86_400_000)
"""Since a worker last asked for tasks."""

_terms = msgspec.json.Decoder(Terms)


def queued_columns(task: QueuedTask) -> Row:
    return (
        task.run_id,
        task.shard,
        task.namespace,
        task.token,
        task.opening,
        task.attempt,
        task.queue,
        task.kind,
        task.handler,
        task.label,
        task.node,
        task.key,
        text(task.input),
        task.blobs,
        task.timeout,
        task.heartbeat,
        json_text(task.terms),
        None if bytes(task.progress) == b"null" else text(task.progress),
        task.enqueued_at,
        task.priority,
        task.partition,
    )


def held_task(row: Row) -> HeldTask:
    task = QueuedTask(
        run_id=row[0],
        shard=row[1],
        namespace=row[2],
        token=row[3],
        opening=row[4],
        attempt=row[5],
        queue=row[6],
        kind=row[7],
        handler=row[8],
        label=row[9],
        node=row[10],
        key=row[11],
        input=row[12].encode(),
        blobs=row[13],
        timeout=row[14],
        heartbeat=row[15],
        terms=decoded(_terms, row[16], f"queued task {row[3]} of run {caller_id(row[0])}"),
        progress=_progress(row[17]),
        enqueued_at=row[18],
        priority=row[19],
        partition=row[20],
    )
    return HeldTask(task, *row[21:25])


def expired_claim(row: Row) -> ExpiredClaim:
    run_id, token, opening, worker, why, progress = row
    return ExpiredClaim(run_id, token, opening, worker, why, _progress(progress))


def _progress(column: str | None) -> Raw:
    return NULL if column is None else Raw(column.encode())
