"""Joins two tables by the fields that they share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from . import large_tables
from .comparison import identities
from .errors import StepError
from .fields import Row, column, or_null, rows_of
from .large_tables import Pair, TooMany
from .steps import Join, names

Key = tuple[Any, ...] | None


def join(step: Join, left: object, right: object, most_rows: int) -> list[Row]:
    """Rows in the order of the left table, then of the right one. Keys that are null or missing never match."""
    lefts, rights = rows_of(left, "left"), rows_of(right, "right")
    on = names(step.on)
    renamed = _renamed(lefts, rights, on)
    absent = dict.fromkeys(renamed.values())
    added = [{renamed[name]: row[name] for name in row if name in renamed} for row in rights]
    keys = _columns(lefts, on), _columns(rights, on)
    pairs = large_tables.matches(*keys, keep_left=step.how == "left", most=most_rows)
    if pairs is None:
        pairs = _pairs(*keys, keep_left=step.how == "left", most=most_rows)
    if isinstance(pairs, TooMany):  # counted before it is built: a join can be as large as the product of its tables
        raise StepError(f"it has more than {most_rows:,} rows")
    return [lefts[left] | (absent if right is None else added[right]) for left, right in pairs]


def _columns(rows: Sequence[Row], on: Sequence[str]) -> list[list[Any]]:
    return [or_null(column(rows, name)) for name in on]


def _pairs(lefts: list[list[Any]], rights: list[list[Any]], *, keep_left: bool, most: int) -> Iterable[Pair] | TooMany:
    found: dict[Key, list[int | None]] = {}
    for at, key in enumerate(_keys(rights)):
        if key is not None:
            found.setdefault(key, []).append(at)
    unmatched: list[int | None] = [None] if keep_left else []
    matches = [found.get(key, unmatched) for key in _keys(lefts)]
    if sum(map(len, matches)) > most:
        return TooMany()
    return ((left, right) for left, several in enumerate(matches) for right in several)


def _keys(columns: list[list[Any]]) -> list[Key]:
    """None for keys that are null or missing; nothing is stored under None."""
    return [None if None in key else key for key in zip(*map(identities, columns), strict=True)]


def _renamed(lefts: Sequence[Row], rights: Sequence[Row], on: Sequence[str]) -> dict[str, str]:
    """The name of each right-hand field in the result; fields that both are joined by come from the left table."""
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
