"""Between the rows of a log and a table's columns, which are the same in every SQL store."""

from __future__ import annotations

from zlib import crc32

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


def _checksum(number: int, row: LogRow) -> int:
    """Of all columns: begun with the small ones, so that a row that is whole but in another's place is seen too."""
    begun = crc32(row.events, (number << 16 ^ row.seq << 4 ^ row.count ^ row.at) & 0xFFFF_FFFF)
    return begun if row.blobs is None else crc32(row.blobs.encode(), begun)
