"""The text search on SQLite: the functions that its statements call, and what is asked of the full-text index."""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import Any

import apsw
import msgspec

from plait.kernel.run_text import about, groups, of_error
from plait.kernel.store import RunRow
from plait.stores.rows import Row, error_of

ABOUT, ERROR = 0, 1
"""The parts of a run that have a text."""
_labels = msgspec.json.Decoder(dict[str, str])
_MARK_BITS = 10
_FIRST_MARK = 0xE000
"""Where Unicode leaves room for private use."""


def text_columns(row: RunRow) -> list[Row]:
    """Of a new run."""
    error = row.error or row.blocked
    texts = ((ABOUT, about(row.id, row.labels)), (ERROR, "" if error is None else of_error(error)))
    return [(row.created_at, row.id, part, namespace_mark(row.namespace), text) for part, text in texts if text]


def add_functions(db: apsw.Connection) -> None:
    """Statements that keep texts call these."""
    db.create_scalar_function("text_space", _namespace_mark, 1, deterministic=True)
    db.create_scalar_function("text_about", _about, 2, deterministic=True)
    db.create_scalar_function("text_of_error", _of_error, 1, deterministic=True)


@lru_cache(1024)
def namespace_mark(namespace: str) -> str:
    """Three characters that stand for a namespace: one group of the index, so that a search leaves out other
    namespaces' runs before it looks at any. Two namespaces may share one; the rows tell them apart."""
    number = zlib.crc32(namespace.encode())
    mask = (1 << _MARK_BITS) - 1
    return "".join(chr(_FIRST_MARK + (number >> shift & mask)) for shift in range(0, 3 * _MARK_BITS, _MARK_BITS))


def search_expression(namespace: str, folded: str) -> str:
    """What FTS5 is asked for: every group of the text, quoted, so that nothing in it is syntax."""
    wanted = (namespace_mark(namespace), *groups(folded))
    return " AND ".join('"' + group.replace('"', '""') + '"' for group in wanted)


# SQLite calls these with the values of columns.


def _namespace_mark(*columns: Any) -> str:
    return namespace_mark(columns[0])


def _about(*columns: Any) -> str:
    run_id, labels = columns
    return about(run_id, _labels.decode(labels))


def _of_error(*columns: Any) -> str:
    found = error_of(columns[0], "a run")
    return "" if found is None else of_error(found)
