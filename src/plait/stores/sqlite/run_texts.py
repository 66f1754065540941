"""The text search on SQLite: how texts come into the full-text index, and what is asked of it.

Texts of new runs are added once in `BATCH` runs, by the commit that makes the last of them, and before a search: FTS5
writes a segment for each transaction, so that one for many runs costs a fraction. Numbers of runs have no holes, so one
number says how far the index is. The error of a run that is in the index already is added by the commit that has it.
"""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import apsw

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.run_text import groups, of_error
from plait.stores import statements
from plait.stores.rows import Row, json_text
from plait.stores.run_texts import ABOUT, ERROR, texts

SQL = statements.load("plait.stores.sqlite", "run_texts.sql")
_INSERT_PLAIN_TEXTS, _OTHER_RUNS = (
    SQL[name].replace("{kinds}", SQL["kinds"]) for name in ("insert_plain_texts", "other_runs")
)

BATCH = 512
"""New runs that have no texts yet, at most."""
_PAGE = 10_000
LATEST = 2**42
"""Milliseconds that a place has room for: until the year 2109."""
PLACE_BITS = 20
"""Of a text's place that are below the run's moment: they tell runs of one moment apart."""
_MARK_BITS = 10
_FIRST_MARK = 0xE000
"""Where Unicode leaves room for private use."""


def is_due(first: int, last: int) -> bool:
    """Whether enough runs are new once these numbers are given."""
    return (first - 1) // BATCH != last // BATCH


def index_new_runs(db: apsw.Connection) -> None:
    """Within a transaction. Of a database that had no text search, these are all."""
    while (new := _new_runs(db))[0]:
        count, last = new
        db.execute(_INSERT_PLAIN_TEXTS, (last, namespace_mark(DEFAULT_NAMESPACE)))
        if plain := db.changes():
            db.execute(SQL["index_plain_texts"], (last,))
        if plain < count:
            _index_others(db, last)
        db.execute(SQL["set_indexed"], (last,))


def _new_runs(db: apsw.Connection) -> tuple[int, int]:
    [found] = db.execute(SQL["new_runs"], (_PAGE,))
    return found


def _index_others(db: apsw.Connection, last: int) -> None:
    """Runs up to a number whose texts SQLite can't make. A damaged row, which nobody can read, must not hold up the
    commits of others."""
    others: list[Any] = db.execute(_OTHER_RUNS, (last,)).fetchall()
    readable = [(number, _readable(run_id), _readable(space), *rest) for number, run_id, space, *rest in others]
    found = [
        (text_place(created_at, number, part), number, part, namespace_mark(namespace), text)
        for number, namespace, created_at, part, text in texts(readable)
    ]
    _add(db, found)


def index_error(db: apsw.Connection, number: int, error: ErrorInfo) -> None:
    """Before its row has it: an error that the row has is in the index. Those of new runs come with the others."""
    changed = db.execute(SQL["changes_error"], (number, json_text(error))).fetchone()
    if changed is None:
        return
    namespace, created_at = changed
    place = text_place(created_at, number, ERROR)
    _unindex(db, place, number)
    _add(db, [(place, number, ERROR, namespace_mark(namespace), of_error(error))])


def unindex_run(db: apsw.Connection, number: int, created_at: int) -> None:
    """Before its row goes. One that is not in the index yet has no texts."""
    for part in (ABOUT, ERROR):
        _unindex(db, text_place(created_at, number, part), number)


def _unindex(db: apsw.Connection, place: int, number: int) -> None:
    old: Row | None = db.execute(SQL["old_text"], (place, number)).fetchone()
    if old is not None:
        db.execute(SQL["unindex_text"], old)
        db.execute(SQL["delete_text"], (place,))


def _add(db: apsw.Connection, found: Sequence[Row]) -> None:
    before = db.total_changes()
    db.executemany(SQL["insert_text"], found)
    if db.total_changes() - before < len(found):
        found = [row for row in found if db.execute(SQL["old_text"], row[:2]).fetchone() is not None]
    db.executemany(SQL["index_text"], found)


def _readable(column: bytes) -> str:
    return column.decode(errors="replace")


def text_place(created_at: int, number: int, part: int) -> int:
    """So that the index gives the newest first."""
    return (min(max(created_at, 0), LATEST) << PLACE_BITS) + ((number << 1) + part & (1 << PLACE_BITS) - 1)


@lru_cache(1024)
def namespace_mark(namespace: str) -> str:
    """Three characters that stand for a namespace: one group of the index, so that a search leaves out other
    namespaces' runs before it looks at any. Two namespaces may share one; the rows tell them apart. It is a function
    of SQL, too."""
    number = zlib.crc32(namespace.encode())
    mask = (1 << _MARK_BITS) - 1
    return "".join(chr(_FIRST_MARK + (number >> shift & mask)) for shift in range(0, 3 * _MARK_BITS, _MARK_BITS))


def search_expression(namespace: str, folded: str) -> str:
    """What FTS5 is asked for: every group of the text, quoted, so that nothing in it is syntax."""
    wanted = (namespace_mark(namespace), *groups(folded))
    return " AND ".join('"' + group.replace('"', '""') + '"' for group in wanted)
