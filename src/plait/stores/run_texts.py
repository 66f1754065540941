"""What is kept of a run for the text search; the same in every SQL store.

A run has up to two texts: what can be found of it from its first moment (its id and labels), and the error it had
last. Whether it still has the error, its own row says. Stores add texts to the index many at a time, beside the commits
that need them or once in hundreds of commits; before a search, those that are still missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

from plait.kernel.errors import ErrorInfo
from plait.kernel.run_text import about, of_error

ABOUT, ERROR = 0, 1
"""The parts of a run that have a text."""

NewRun: TypeAlias = tuple[int, str, str, int, str | bytes, str | bytes | None]
"""The number of a run, its id, namespace, moment, labels and error: as the columns of the table have them."""
Text: TypeAlias = tuple[int, str, int, int, str]
"""The number of a run, its namespace and moment, the part, and the text."""

_NONE = ("{}", b"{}")
_labels = msgspec.json.Decoder(dict[str, str])
_error = msgspec.json.Decoder(ErrorInfo)


def texts(runs: Iterable[NewRun]) -> Iterator[Text]:
    for number, run_id, namespace, created_at, labels, error in runs:
        found = about(run_id, _labels_of(labels))
        if found:
            yield number, namespace, created_at, ABOUT, found
        if error is not None and (found := _error_text(error)):
            yield number, namespace, created_at, ERROR, found


def _labels_of(column: str | bytes) -> dict[str, str]:
    """Damaged ones find nothing: who reads the run itself is told."""
    if column in _NONE:
        return {}
    try:
        return _labels.decode(column)
    except (msgspec.DecodeError, TypeError):
        return {}


def _error_text(column: str | bytes) -> str:
    try:
        return of_error(_error.decode(column))
    except (msgspec.DecodeError, TypeError):
        return ""
