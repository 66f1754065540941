"""Conversion between queues and a table's columns, the same for every SQL store."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec

from plait.kernel.admission import EVERY_QUEUE, Load, QueueSettings, Starts
from plait.kernel.errors import Damaged
from plait.kernel.ids import Millis, RunId, caller_id
from plait.kernel.run_queues import QueuedRun, QueueState, SlotHolder

from .columns import MAYBE_NUMBER, Row, Types, check_types, decoded
from .rows import json_text

log = logging.getLogger("plait.store")

Kind: TypeAlias = Literal["run", "task"]

AT_ONCE = 100
"""Waiting entries read together."""
ROUNDS = 20
"""Reads in a row when the keys of waiting entries are at their limits."""

_settings = msgspec.json.Decoder(QueueSettings)


def place_columns(run_id: RunId, place: QueuedRun) -> Row:
    """The columns of a place without the times, which the database sets."""
    return (
        run_id,
        place.namespace,
        place.queue,
        place.partition,
        place.priority,
        place.dedup_id,
        place.debounced,
        place.delay or None,
        place.deadline,
    )


def settings_of(column: str, queue: str) -> QueueSettings:
    return decoded(_settings, column, f"the settings of queue {queue}")


def settings_text(settings: QueueSettings) -> str:
    return json_text(settings)


def limits_of(found: Iterable[Row]) -> dict[str, QueueSettings]:
    return {name: settings_of(column, name) for name, column in found}


def load_of(running: Sequence[Row], starts: Sequence[Row], workers: Sequence[Row], now: Millis) -> Load:
    """The counts of a queue. `running`: (key, count); `starts`: (key, count, first start); `workers`: (worker,
    count)."""
    return Load(
        running={row[0]: row[1] for row in running},
        starts={row[0]: Starts(row[1], Millis(now - row[2])) for row in starts},
        by_worker=dict(workers),
    )


def limit_name(queue: str) -> str:
    """A queue's name in text for people."""
    return "every queue" if queue == EVERY_QUEUE else f"queue `{queue}`"


def sooner(now: Millis, rate: Millis | None, *moments: Millis | None) -> Millis | None:
    """Milliseconds until the first of these: the wait of a rate limit, or one of the moments."""
    waits = [] if rate is None else [rate]
    waits += [Millis(max(1, moment - now)) for moment in moments if moment is not None]
    return min(waits, default=None)


_PLACE: Types = {
    0: ("run_id", str),
    1: ("namespace", str),
    2: ("queue", str),
    3: ("partition", str),
    4: ("priority", int),
    5: ("due", MAYBE_NUMBER),
    6: ("deadline", MAYBE_NUMBER),
    7: ("enqueued_at", int),
    8: ("admitted_at", MAYBE_NUMBER),
}


def check_place(row: Row) -> None:
    """Of a run on a queue."""
    check_types(row, _PLACE, f"run {caller_id(RunId(str(row[0])))} on queue {row[2]}")


def readable_states(namespace: str, found: Iterable[Row]) -> list[QueueState]:
    """Without queues whose limits are damaged, which are named in the log."""
    readable: list[QueueState] = []
    for row in found:
        try:
            readable.append(_state(namespace, row))
        except Damaged as error:
            log.error("a queue is left out: %s", error)
    return readable


def _state(namespace: str, row: Row) -> QueueState:
    name, column, waiting, delayed, running, waiting_tasks, running_tasks = row
    return QueueState(
        namespace=namespace,
        name=name,
        settings=None if column is None else settings_of(column, name),
        waiting_runs=int(waiting),
        delayed_runs=int(delayed),
        running_runs=int(running),
        waiting_tasks=int(waiting_tasks),
        running_tasks=int(running_tasks),
    )


def slot_holder(row: Row) -> SlotHolder:
    kind, run_id, label, since, partition, worker = row
    return SlotHolder(kind=kind, run_id=run_id, label=label, since=since, partition=partition, worker=worker)
