"""Conversion between log rows and a table's columns, the same for every SQL store."""

from __future__ import annotations

from zlib import crc32

from plait.kernel.ids import Millis, RunId, Seq
from plait.kernel.log_check import damaged_log
from plait.kernel.store import LogRow

from .rows import Row


def log_columns(number: int | None, row: LogRow) -> Row:
    """The columns of a log row. `number` is the run's; None, which no table accepts, if there is no such run."""
    seq, count, at, events, blobs = row.seq, row.count, row.at, row.events, row.blobs
    if number is None:
        checksum = None
    elif blobs is None:  # as in most rows: saves a call
        checksum = crc32(events, number << 16 ^ seq << 4 ^ count ^ at)
    else:
        checksum = _checksum(number, seq, count, at, events, blobs)
    return number, seq, count, at, events.decode(), blobs, checksum


def log_row(run_id: RunId, columns: Row) -> LogRow:
    """The log row of these columns; raises if it was changed."""
    number, seq, count, at, events, blobs, checksum = columns
    if not (isinstance(events, str) and isinstance(blobs, str | None)):
        raise damaged_log(run_id, f"the row of event {seq} is not text")
    if not (isinstance(seq, int) and isinstance(count, int) and isinstance(at, int)):
        raise damaged_log(run_id, f"the row of event {seq} has no number, no count or no time")
    row = LogRow(Seq(seq), count, Millis(at), events.encode(), blobs)
    if checksum is not None and checksum != _checksum(number, seq, count, at, row.events, blobs):
        raise damaged_log(run_id, f"the row of event {seq} does not fit its checksum")
    return row


def _checksum(number: int, seq: int, count: int, at: int, events: bytes, blobs: str | None) -> int:
    """The checksum of all columns. It starts with the numbers, so that an intact row in another's place is detected,
    too; `crc32` uses their last 32 bits."""
    begun = crc32(events, number << 16 ^ seq << 4 ^ count ^ at)
    return begun if blobs is None else crc32(blobs.encode(), begun)
