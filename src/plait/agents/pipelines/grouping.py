"""Groups of rows, and what becomes of each: a count, a sum, an average, the least or the greatest."""

from __future__ import annotations

import math
from typing import Any

from .comparison import NUMBER, identity, order_key, rank
from .errors import StepError
from .fields import MISSING, Row, column, kind_of, or_null, rows_of
from .steps import GroupBy, names


class _Group:
    __slots__ = ("found", "keys", "size")

    def __init__(self, keys: list[Any]) -> None:
        self.keys = keys
        self.size = 0
        self.found: list[tuple[int, Any]] = []
        """Index of the row and value, nulls left out."""


def group(step: GroupBy, data: object) -> list[Row]:
    """In the order in which the groups first appear; a missing key is null."""
    by = names(step.by)
    result = "count" if step.agg == "count" else f"{step.agg}_{step.field}"
    return [
        dict(zip(by, each.keys, strict=True)) | {result: _aggregate(step, each)} for each in _groups(step, by, data)
    ]


def _groups(step: GroupBy, by: list[str], data: object) -> list[_Group]:
    rows = rows_of(data)
    columns = [or_null(column(rows, name)) for name in by]
    places = zip(*(map(identity, each) for each in columns), strict=True)
    values = column(rows, step.field) if step.field is not None else [None] * len(rows)
    groups: dict[tuple[Any, ...], _Group] = {}
    for index, (place, value) in enumerate(zip(places, values, strict=True)):
        group = groups.get(place)
        if group is None:
            group = groups[place] = _Group([each[index] for each in columns])
        group.size += 1
        if value is not None and value is not MISSING:
            group.found.append((index, value))
    return list(groups.values())


def _aggregate(step: GroupBy, group: _Group) -> Any:
    match step.agg:
        case "count":
            return group.size
        case "sum":
            return _total(_numbers(step, group))
        case "avg":
            numbers = _numbers(step, group)
            return _total(numbers, among=len(numbers)) if numbers else None
        case "min" | "max":
            return _extreme(step, group)


def _numbers(step: GroupBy, group: _Group) -> list[Any]:
    for index, value in group.found:
        if rank(value) != NUMBER:
            raise StepError(f"{step.agg} of `{step.field}`: row {index} has {kind_of(value)}, not a number")
    return [value for _, value in group.found]


def _total(numbers: list[Any], among: int = 0) -> int | float:
    """Their sum, or its share for each of so many. Exact: the order of the rows makes no difference."""
    try:
        total = math.fsum(numbers) if any(isinstance(each, float) for each in numbers) else sum(numbers)
        result = total / among if among else total
    except OverflowError:
        result = math.inf
    if isinstance(result, float) and not math.isfinite(result):
        raise StepError("the result is too large a number")
    return result


def _extreme(step: GroupBy, group: _Group) -> Any:
    if not group.found:
        return None
    first = rank(group.found[0][1])
    for index, value in group.found:
        if rank(value) != first:
            what = f"row {index} has {kind_of(value)}, others have {kind_of(group.found[0][1])}"
            raise StepError(f"{step.agg} of `{step.field}`: {what}")
    choose = min if step.agg == "min" else max
    return choose((value for _, value in group.found), key=order_key)
