"""What lists find runs by on PostgreSQL, besides their rows: labels, and texts in lower case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from plait.kernel.ids import RunId
from plait.kernel.run_text import about, of_error
from plait.kernel.store import RunPatch, RunRow
from plait.stores import statements
from plait.stores.rows import Row, error_of

from .database import NO_LIMIT, Connection

SQL = statements.load("plait.stores.postgres", "run_lists.sql")
_ABOUT, _ERROR = 0, 1
"""The parts of a run that have a text."""
_PAGE = 5_000
_labels = msgspec.json.Decoder(dict[str, str])


def text_columns(row: RunRow) -> list[Row]:
    """Of a new run."""
    error = row.error or row.blocked
    texts = ((_ABOUT, about(row.id, row.labels)), (_ERROR, "" if error is None else of_error(error)))
    return [(row.id, part, row.namespace, row.created_at, text) for part, text in texts if text]


def error_columns(run_id: RunId, patch: RunPatch) -> list[Row]:
    """Of a run that failed, or is stuck."""
    error = patch.error or patch.blocked
    return [] if error is None else [(run_id, of_error(error))]


async def fill_run_texts(connection: Connection) -> None:
    """For the runs of a database that had no text search; the indexes come after, which is quicker."""
    last = ""
    while page := await connection.fetch(SQL["old_texts"], last, _PAGE):
        last = page[-1][0]
        found = [columns for row in page for columns in _old_columns(*row)]
        if found:
            await connection.execute(SQL["add_texts"], *zip(*found, strict=True))
    await connection.execute(SQL["index_texts"], timeout=NO_LIMIT)


def _old_columns(run_id: str, namespace: str, created_at: int, labels: str, error: str | None) -> Iterable[Row]:
    known = error_of(error, "a run")
    texts: tuple[Any, ...] = ((_ABOUT, about(run_id, _labels.decode(labels))), (_ERROR, known and of_error(known)))
    return [(run_id, part, namespace, created_at, text) for part, text in texts if text]
