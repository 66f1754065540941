"""Rows beside the runs and their logs, for a deep check: which of them can't be read, and why.

Each store has a statement for each of these names, with the columns that the reader expects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from plait.kernel.errors import Damaged
from plait.kernel.ids import RunId, caller_id

from .columns import Row, Types, check_types, raw
from .queue_rows import check_place, settings_of
from .rows import approval, dead_letter, timer_row
from .task_rows import held_task

_INPUT: Types = {0: ("run_id", str), 1: ("shard", int), 2: ("key", str), 3: ("body", str), 4: ("at", int)}
_RECORD: Types = {0: ("kind", str), 1: ("namespace", str), 2: ("id", str), 3: ("body", str), 4: ("at", int)}


def _input(row: Row) -> None:
    whose = f"input {row[2]} of run {caller_id(RunId(str(row[0])))}"
    check_types(row, _INPUT, whose)
    raw(row[3], whose)


def _record(row: Row) -> None:
    whose = f"record {row[0]}/{row[1]}/{row[2]}"
    check_types(row, _RECORD, whose)
    raw(row[3], whose)


def _queue(row: Row) -> None:
    settings_of(row[1], str(row[0]))


EXAMINED: Final[dict[str, Callable[[Row], object]]] = {
    "examine_approvals": approval,
    "examine_dead_letters": dead_letter,
    "examine_inbox": _input,
    "examine_timers": timer_row,
    "examine_tasks": held_task,
    "examine_queues": _queue,
    "examine_queued_runs": check_place,
    "examine_records": _record,
}


def damaged_rows(name: str, found: Iterable[Row]) -> Iterator[str]:
    """The defects of the rows that a statement returned."""
    read = EXAMINED[name]
    for row in found:
        try:
            read(row)
        except Damaged as error:
            yield f"{error.what}: {error.why}"
