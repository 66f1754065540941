"""A copy of a SQLite file while engines write to it, and a file made of such a copy.

SQLite's own backup reads all pages in one transaction: writers go on, and the copy is the file as it was at that
moment. It is a database like any other.
"""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import os
from pathlib import Path

import apsw

from plait.kernel.errors import Damaged, InvalidInput

from .database import PRIVATE, check_readable, readable_errors

_ALL_PAGES = -1
_BUSY_MS = 30_000


def copy_database(source: Path, target: Path) -> None:
    """Whole or not at all, also after a power cut. Refuses to write over a file, and to copy what is none of ours."""
    if target.exists() and target.stat().st_size:
        raise InvalidInput("backup.exists", f"{target} is there already", fix="name another file, or move it away")
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    with readable_errors(str(source)):
        read = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)
        read.set_busy_timeout(_BUSY_MS)
        try:
            check_readable(read, str(source))
            os.close(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, PRIVATE))
            _copy(read, draft)
            draft.replace(target)
        finally:
            read.close()
            draft.unlink(missing_ok=True)
    _sync(target.parent)


def _copy(read: apsw.Connection, draft: Path) -> None:
    written = apsw.Connection(str(draft))
    try:
        with written.backup("main", read, "main") as backup:
            backup.step(_ALL_PAGES)
        found = [line for (line,) in written.execute("pragma quick_check")]
    finally:
        written.close()
    if found != ["ok"]:
        raise Damaged("the copy of the database is damaged", str(found[0]))
    _sync(draft)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
