"""Conversion between queued tasks and a table's columns, the same for every SQL store."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import msgspec
from msgspec import Raw

from plait.kernel.errors import Damaged
from plait.kernel.ids import Millis, RunId, caller_id
from plait.kernel.queued import ExpiredClaim, HeldTask, QueuedTask, Terms
from plait.kernel.values import NULL

from .columns import MAYBE_NUMBER, MAYBE_TEXT, Row, Types, check_types, decoded, raw
from .rows import json_text, text

FORGET_AFTER = Millis(86_400_000)
"""Milliseconds after a worker's last poll."""

log = logging.getLogger("plait.store")

_terms = msgspec.json.Decoder(Terms)
_TYPES: Types = {
    0: ("run_id", str),
    1: ("shard", int),
    2: ("namespace", str),
    3: ("token", str),
    4: ("opening", int),
    5: ("attempt", int),
    6: ("queue", str),
    7: ("kind", str),
    8: ("handler", str),
    9: ("label", str),
    10: ("node", str),
    11: ("key", str),
    12: ("input", str),
    13: ("blobs", MAYBE_TEXT),
    14: ("timeout", MAYBE_NUMBER),
    15: ("heartbeat", MAYBE_NUMBER),
    18: ("enqueued_at", int),
    19: ("priority", int),
    20: ("partition", str),
}


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


def held_tasks(found: Iterable[Row]) -> list[HeldTask]:
    """The tasks just claimed, without damaged ones: nobody can execute these, but they must not block a queue's
    workers. Their claims expire, and with the next attempt their runs write them anew."""
    held: list[HeldTask] = []
    for row in found:
        try:
            held.append(held_task(row))
        except Damaged as error:
            log.error("a task is given to nobody: %s", error)
    return held


def held_task(row: Row) -> HeldTask:
    whose = f"queued task {row[3]} of run {caller_id(RunId(str(row[0])))}"
    check_types(row, _TYPES, whose)
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
        input=bytes(raw(row[12], whose)),
        blobs=row[13],
        timeout=row[14],
        heartbeat=row[15],
        terms=decoded(_terms, row[16], whose),
        progress=_progress(row[17], whose),
        enqueued_at=row[18],
        priority=row[19],
        partition=row[20],
    )
    return HeldTask(task, *row[21:25])


def expired_claim(row: Row) -> ExpiredClaim:
    run_id, token, opening, worker, why, progress = row
    try:
        told = _progress(progress, "a claim")
    except Damaged as error:
        log.error("what was left of task %s of run %s is lost: %s", token, run_id, error)
        told = NULL
    return ExpiredClaim(run_id, token, opening, worker, why, told)


def _progress(column: str | None, whose: str) -> Raw:
    return NULL if column is None else raw(column, whose)
