"""Fields of rows by name or dotted path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

from .errors import StepError

Row = dict[str, Any]
MISSING: Final[Any] = object()
"""The row has no such field; null is a value."""


def column(rows: Sequence[Row], path: str) -> list[Any]:
    """A field of all rows. A key with exactly that name wins over the path; paths have no list indexes."""
    if "." not in path:
        return [row.get(path, MISSING) for row in rows]
    parts = path.split(".")
    return [row[path] if path in row else _walk(row, parts) for row in rows]


def _walk(row: Row, parts: Sequence[str]) -> Any:
    found: Any = row
    for part in parts:
        if not isinstance(found, dict) or part not in found:
            return MISSING
        found = cast("Row", found)[part]
    return found


def or_null(values: Iterable[Any]) -> list[Any]:
    return [None if value is MISSING else value for value in values]


def rows_of(data: object, what: str = "the incoming data") -> list[Row]:
    """The data as a table. Raises an error that says where it is not one."""
    if not isinstance(data, list):
        raise StepError(f"{what} must be a list of objects, got {kind_of(data)}")
    rows = cast("list[Any]", data)
    if set(map(type, rows)) <= {dict}:
        return rows
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise StepError(f"{what} must be a list of objects: item {index} is {kind_of(row)}")
    return rows


def kind_of(value: object) -> str:
    """The name of a JSON type, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"
