"""The format of an archived run: its rows as the database had them, in lines of compressed JSON.

    ["plait.archive", 1]
    ["run", [columns]]
    ["log", [columns]]…  ["blob", [hash, base64]]…  ["approval", …]…  ["dead_letter", …]…  ["line", …]…

If the database is encrypted its rows are sealed, and stay so here: the archive is readable as long as the keys in the
database are, and an erasure covers it.
"""

from __future__ import annotations

import gzip
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from plait.kernel.approval import Approval
from plait.kernel.errors import Damaged
from plait.kernel.store import DeadLetter, Line, LogRow, RunRow, Snapshot
from plait.stores import rows
from plait.stores.log_rows import log_columns, log_row

_HEAD = ["plait.archive", 1]
_NUMBER = 0
"""Runs have no number outside a database; the checksums of log rows are computed with this one."""
_lines = msgspec.json.Encoder()


class ArchivedRun(msgspec.Struct, frozen=True):
    row: RunRow
    log: list[LogRow]
    blobs: list[tuple[str, bytes]] = []
    snapshot: Snapshot | None = None
    """Present if the run's first events were compacted."""
    approvals: list[Approval] = []
    dead_letters: list[DeadLetter] = []
    lines: list[Line] = []


def encode(run: ArchivedRun) -> bytes:
    """Encodes a run; the same run always gives the same bytes."""
    return gzip.compress(_lines.encode_lines([_HEAD, *_entries(run)]), mtime=0)


def decode(content: bytes) -> ArchivedRun:
    """Decodes a run; raises for damaged content, and for that of another release."""
    try:
        head, first, *rest = map(msgspec.json.decode, gzip.decompress(content).splitlines())
        if head != _HEAD or first[0] != "run":
            raise ValueError(f"it begins with {head}: a newer Plait wrote it, or another program")
        run = ArchivedRun(_run_row(first[1]), [], [], None, [], [], [])
        for kind, columns in rest:
            run = _with(run, kind, columns)
    except (OSError, EOFError, zlib.error, ValueError, TypeError, LookupError) as error:
        raise Damaged("an archived run can't be read", str(error)) from error
    return run


def _run_row(columns: list[Any]) -> RunRow:
    """The row without what only a database has: its number, and whether a worker has claimed one of its tasks."""
    return rows.run_row((*columns[: rows.NUMBER], _NUMBER, *columns[rows.NUMBER :], False))


def _entries(run: ArchivedRun) -> Iterator[tuple[str, Any]]:
    yield "run", rows.run_columns(run.row)
    yield from _each("log", (log_columns(_NUMBER, row) for row in run.log))
    yield from _each("blob", ((digest, b64encode(body).decode()) for digest, body in run.blobs))
    if run.snapshot is not None:
        yield "snapshot", (run.snapshot.seq, run.snapshot.at, run.snapshot.body.decode())
    yield from _each("approval", map(rows.approval_columns, run.approvals))
    yield from _each("dead_letter", map(rows.dead_letter_columns, run.dead_letters))
    yield from _each("line", map(rows.line_columns, run.lines))


def _each(kind: str, found: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return ((kind, columns) for columns in found)


def _with(run: ArchivedRun, kind: str, columns: list[Any]) -> ArchivedRun:
    match kind:
        case "log":
            run.log.append(log_row(run.row.id, tuple(columns)))
        case "blob":
            run.blobs.append((columns[0], b64decode(columns[1], validate=True)))
        case "snapshot":
            return msgspec.structs.replace(run, snapshot=Snapshot(columns[0], columns[1], columns[2].encode()))
        case "approval":
            run.approvals.append(rows.approval(tuple(columns)))
        case "dead_letter":
            run.dead_letters.append(rows.dead_letter(tuple(columns)))
        case "line":
            run.lines.append(Line(*columns))
        case _:
            raise ValueError(f"an entry of a kind that is not known: {kind}")
    return run
