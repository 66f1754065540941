"""Copies the beginning of a run's log for a fork."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.store import LogRow

_raws = msgspec.json.Decoder(list[Raw])
_refs = msgspec.json.Decoder(dict[str, str])


def cut(rows: list[LogRow], upto: int) -> list[LogRow]:
    """The rows of events 1 to `upto`; the last decision may be cut in the middle."""
    return [row if row.seq + row.count - 1 <= upto else _cut_row(row, upto) for row in rows if row.seq <= upto]


def blobs_of(rows: Iterable[LogRow]) -> list[str]:
    """The hashes of large values that events refer to, without duplicates."""
    return sorted({digest for row in rows if row.blobs is not None for digest in _refs.decode(row.blobs).values()})


def _cut_row(row: LogRow, upto: int) -> LogRow:
    count = upto - row.seq + 1
    events = values.plain(_raws.decode(row.events)[:count])
    refs = {} if row.blobs is None else _refs.decode(row.blobs)
    kept = {place: digest for place, digest in refs.items() if int(place.partition(".")[0]) < count}
    return LogRow(row.seq, count, row.at, events, values.plain(kept).decode() if kept else None)
