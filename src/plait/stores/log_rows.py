"""Between the rows of a log and a table's columns, which are the same in every SQL store."""

from __future__ import annotations

from zlib import crc32

from plait.kernel.ids import RunId
from plait.kernel.log_check import damaged_log
from plait.kernel.store import LogRow

from .rows import Row


def log_columns(number: int | None, row: LogRow) -> Row:
    """`number` is the run's; None, which no table takes, if there is no such run."""
    return (
        number,
        row.seq,
        row.count,
        row.at,
        row.events.decode(),
        row.blobs,
        None if number is None else _checksum(number, row),
    )


def log_row(run_id: RunId, columns: Row) -> LogRow:
    """Refuses a row that is not as it was written."""
    number, seq, count, at, events, blobs, checksum = columns
    if not (isinstance(events, str) and isinstance(blobs, str | None)):
        raise damaged_log(run_id, f"the row of event {seq} is not text")
    row = LogRow(seq, count, at, events.encode(), blobs)
    if checksum is not None and checksum != _checksum(number, row):
        raise damaged_log(run_id, f"the row of event {seq} does not fit its checksum")
    return row


def _checksum(number: int, row: LogRow) -> int:
    """Of all columns: begun with the small ones, so that a row that is whole but in another's place is seen too."""
    begun = crc32(row.events, (number << 16 ^ row.seq << 4 ^ row.count ^ row.at) & 0xFFFF_FFFF)
    return begun if row.blobs is None else crc32(row.blobs.encode(), begun)
