"""A copy of a SQLite file while engines write to it, and a file made of such a copy.

SQLite's own backup reads all pages in one transaction: writers go on, and the copy is the file as it was at that
moment. It is a database like any other.
"""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path

import apsw

from plait.kernel.errors import Damaged, InvalidInput
from plait.stores.new_file import new_file

from .database import check_readable, raise_readable, readable_errors

_ALL_PAGES = -1
_BUSY_MS = 30_000
_JOURNALS = ("-wal", "-journal")


def copy_database(source: Path, target: Path) -> None:
    """Whole or not at all, also after a power cut. Refuses to write over a file, and to copy what is none of ours."""
    _refuse_journals(target)
    with readable_errors(str(source)), new_file(target) as draft:
        read = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)
        read.set_busy_timeout(_BUSY_MS)
        try:
            check_readable(read, str(source))
            _copy(read, draft, target)
        finally:
            read.close()
        _refuse_journals(target)


def _refuse_journals(target: Path) -> None:
    """SQLite would take one that an earlier file of this name left for ours, and write its pages into the copy."""
    for ending in _JOURNALS:
        journal = target.with_name(f"{target.name}{ending}")
        if journal.exists() and journal.stat().st_size:
            raise InvalidInput(
                "backup.exists",
                f"{journal} is there already",
                why="it holds changes of another database, which would be made to this one",
                fix="move it away, with the database that it belongs to",
            )


def _copy(read: apsw.Connection, draft: Path, target: Path) -> None:
    written = apsw.Connection(str(draft))
    try:
        with written.backup("main", read, "main") as backup:
            backup.step(_ALL_PAGES)
        # One file that can be read anywhere: in the other mode, whoever reads it makes two more beside it
        written.pragma("journal_mode", "delete")
        found = [line for (line,) in written.execute("pragma quick_check")]
    except apsw.FullError as error:
        raise_readable(error, str(target))
    finally:
        written.close()
    if found != ["ok"]:
        raise Damaged("the copy of the database is damaged", str(found[0]))
