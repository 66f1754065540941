"""Checks the rows of a log: without gaps, each with as many events as it states.

A decision made on half a history would repeat or skip work, so such a log is refused, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from .counted import counted
from .errors import Damaged
from .ids import RunId, caller_id
from .store import LogRow

E = TypeVar("E")


def check_places(run_id: RunId, after: int, rows: Sequence[LogRow]) -> None:
    """Checks that these rows follow event number `after` and each other without gaps."""
    expected = after + 1
    for row in rows:
        if row.count < 1 or row.seq > expected or (row.seq < expected and row is not rows[0]):
            found = f"number {row.seq}" if row.count > 0 else f"a row of {row.count} events at number {row.seq}"
            raise damaged_log(run_id, f"event {expected} is missing: what follows is {found}")
        expected = row.seq + row.count


def decode_events(run_id: RunId, row: LogRow, decode: Callable[[bytes], list[E]]) -> list[E]:
    """Decodes a row and checks its number of events; `ValidationError` is left to the caller."""
    try:
        events = decode(row.events)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        raise damaged_log(run_id, f"the row of event {row.seq} is not JSON: {error}") from error
    if len(events) != row.count and not row.is_compacted:
        raise damaged_log(
            run_id, f"the row of event {row.seq} should hold {counted(row.count, 'event')}, but holds {len(events)}"
        )
    return events


def damaged_log(run_id: RunId, why: str) -> Damaged:
    return Damaged(f"the log of run {caller_id(run_id)} is damaged", why)
