"""A copy of a SQLite file while engines write to it, and its restore.

SQLite's own backup reads all pages in one transaction: writers continue, and the copy is the file as of that moment. It
is a database like any other.
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
    """Copies atomically, even across a power cut. Refuses to overwrite a file, and to copy a foreign one."""
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
    """Refuses leftover journals: SQLite would apply one of an earlier file of this name to the copy."""
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
        # One file that can be read anywhere: in the other mode, a reader creates two more beside it
        written.pragma("journal_mode", "delete")
        found = [line for (line,) in written.execute("pragma quick_check")]
    except apsw.FullError as error:
        raise_readable(error, str(target))
    finally:
        written.close()
    if found != ["ok"]:
        raise Damaged("the copy of the database is damaged", str(found[0]))
