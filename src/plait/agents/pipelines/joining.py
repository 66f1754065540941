"""Two tables into one, by the fields that they share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from .comparison import identities
from .errors import StepError
from .fields import Row, column, or_null, rows_of
from .steps import Join, names

Key = tuple[Any, ...] | None


def join(step: Join, left: object, right: object, most_rows: int) -> list[Row]:
    """In the order of the left table, then of the right one. Keys that are null or missing never match."""
    lefts, rights = rows_of(left, "left"), rows_of(right, "right")
    on = names(step.on)
    renamed = _renamed(lefts, rights, on)
    absent = dict.fromkeys(renamed.values())
    found: dict[Key, list[Row]] = {}
    for row, key in zip(rights, _keys(rights, on), strict=True):
        if key is not None:
            found.setdefault(key, []).append({renamed[name]: row[name] for name in row if name in renamed})
    unmatched = [absent] if step.how == "left" else []
    matches = [found.get(key, unmatched) for key in _keys(lefts, on)]
    if sum(map(len, matches)) > most_rows:  # before it is made: a join can be as large as the product of its tables
        raise StepError(f"it has more than {most_rows:,} rows")
    return [row | each for row, several in zip(lefts, matches, strict=True) for each in several]


def _keys(rows: Sequence[Row], on: Sequence[str]) -> list[Key]:
    """None, which nothing is kept under, for keys that are null or missing."""
    columns = [identities(or_null(column(rows, name))) for name in on]
    return [None if None in key else key for key in zip(*columns, strict=True)]


def _renamed(lefts: Sequence[Row], rights: Sequence[Row], on: Sequence[str]) -> dict[str, str]:
    """What each field of the right table is called in the result; those that both are joined by are the left one's."""
    taken = set(on).union(*lefts)
    renamed: dict[str, str] = {}
    for name in dict.fromkeys(chain.from_iterable(rights)):
        if name not in on:
            renamed[name] = _free(name, taken)
            taken.add(renamed[name])
    return renamed


def _free(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    other, number = f"{name}_right", 1
    while other in taken:
        number += 1
        other = f"{name}_right_{number}"
    return other
