"""Operators that compare an aggregate of all matches: `sum_gt`, `count_eq`, `avg_lte` and so on."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final, cast

from plait.conditions.budget import Budget, is_number


class Mismatch(Exception):
    """A match has a type that the operator does not support."""


def _sum(numbers: list[Any]) -> int | float:
    total = sum(numbers)
    if isinstance(total, float) and not math.isfinite(total):
        raise OverflowError
    return total


_AGGREGATES: Final[dict[str, Callable[[list[Any]], int | float]]] = {
    "sum": _sum,
    "count": len,
    "min": min,
    "max": max,
    "avg": lambda numbers: _sum(numbers) / len(numbers),
}
_OF_NONE: Final = frozenset({"sum", "count"})
"""Aggregates that have a value without any match."""
_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "eq": operator.eq,
}


def _holds(name: str, compare: Callable[[Any, Any], bool]) -> Callable[[Budget, list[Any], Any], bool]:
    aggregate = _AGGREGATES[name]

    def holds(budget: Budget, matches: list[Any], operand: Any) -> bool:
        found = _elements(matches)
        budget.take(len(found))
        if not found and name not in _OF_NONE:
            return False
        if name != "count" and not all(map(is_number, found)):
            raise Mismatch(f"`{name}` needs numbers, and not all matches are")
        return compare(aggregate(found), operand)

    return holds


def _elements(matches: list[Any]) -> list[Any]:
    """A single match that is an array stands for its elements."""
    if len(matches) == 1 and isinstance(matches[0], list):
        return cast("list[Any]", matches[0])
    return matches


OPERATORS: Final = {
    f"{name}_{suffix}": _holds(name, compare) for name in _AGGREGATES for suffix, compare in _COMPARISONS.items()
}
