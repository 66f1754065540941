"""The text search on SQLite: filling the full-text index, and its queries.

Texts of new runs are added once in `BATCH` runs, by the commit that creates the last of them, and before a search: FTS5
writes a segment for each transaction, so one for many runs costs a fraction. Numbers of runs have no gaps, so one
number marks the progress of the index. The error of a run that is already indexed is added by the commit that has it.
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
"""Most new runs without texts in the index."""
_PAGE = 10_000
LATEST = 2**42
"""Milliseconds that fit into a place: until the year 2109."""
PLACE_BITS = 20
"""Bits of a text's place below the run's creation time: they distinguish runs of the same millisecond."""
_MARK_BITS = 10
_FIRST_MARK = 0xE000
"""Start of Unicode's private use area."""


def is_due(first: int, last: int) -> bool:
    """Whether the index is due once these numbers are assigned."""
    return (first - 1) // BATCH != last // BATCH


def index_new_runs(db: apsw.Connection) -> None:
    """Indexes all new runs, within a transaction. In a database that had no text search, these are all."""
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
    """Indexes runs up to a number whose texts SQLite can't compute. A damaged row, which nobody can read, must not
    block the commits of others."""
    others: list[Any] = db.execute(_OTHER_RUNS, (last,)).fetchall()
    readable = [(number, _readable(run_id), _readable(space), *rest) for number, run_id, space, *rest in others]
    found = [
        (text_place(created_at, number, part), number, part, namespace_mark(namespace), text)
        for number, namespace, created_at, part, text in texts(readable)
    ]
    _add(db, found)


def index_error(db: apsw.Connection, number: int, error: ErrorInfo) -> None:
    """Indexes an error before its row has it: an error in the row is in the index. Those of new runs are added with the
    rest."""
    changed = db.execute(SQL["changes_error"], (number, json_text(error))).fetchone()
    if changed is None:
        return
    namespace, created_at = changed
    place = text_place(created_at, number, ERROR)
    _unindex(db, place, number)
    _add(db, [(place, number, ERROR, namespace_mark(namespace), of_error(error))])


def unindex_run(db: apsw.Connection, number: int, created_at: int) -> None:
    """Removes a run's texts before its row. One that is not indexed yet has none."""
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
    """The place of a text, ordered so that the index returns the newest first."""
    return (min(max(created_at, 0), LATEST) << PLACE_BITS) + ((number << 1) + part & (1 << PLACE_BITS) - 1)


@lru_cache(1024)
def namespace_mark(namespace: str) -> str:
    """Three characters that stand for a namespace: one trigram of the index, so that a search skips other namespaces'
    runs. Two namespaces may share one; the rows distinguish them. It is also an SQL function."""
    number = zlib.crc32(namespace.encode())
    mask = (1 << _MARK_BITS) - 1
    return "".join(chr(_FIRST_MARK + (number >> shift & mask)) for shift in range(0, 3 * _MARK_BITS, _MARK_BITS))


def search_expression(namespace: str, folded: str) -> str:
    """The FTS5 query: every trigram of the text, quoted, so that nothing in it is syntax."""
    wanted = (namespace_mark(namespace), *groups(folded))
    return " AND ".join('"' + group.replace('"', '""') + '"' for group in wanted)
