"""Texts of runs for the text search; the same in every SQL store.

A run has up to two texts: what is searchable from its creation (its id and labels), and its latest error. Its own row
says whether it still has the error. Stores add texts to the index in batches, with the commits that need them or once
in hundreds of commits; before a search, the missing ones are added.
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
"""Number, id, namespace, creation time, labels and error of a run, as stored."""
Text: TypeAlias = tuple[int, str, int, int, str]
"""Number, namespace and creation time of a run, the part, and the text."""

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
    """The labels; damaged ones match nothing: reading the run itself reports that."""
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
