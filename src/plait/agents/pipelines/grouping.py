"""Groups rows and aggregates each group: count, sum, average, minimum or maximum."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Any

from . import large_tables
from .comparison import NUMBER, NUMBERS, alike, identities, order_key, rank
from .errors import StepError
from .fields import MISSING, Row, column, kind_of, or_null, rows_of
from .steps import GroupBy, names


def group(step: GroupBy, data: object) -> list[Row]:
    """Groups appear in the order of their first row; a missing key is null."""
    by, rows = names(step.by), rows_of(data)
    result = "count" if step.agg == "count" else f"{step.agg}_{step.field}"
    values = column(rows, step.field) if step.field is not None else []
    columns = [or_null(column(rows, name)) for name in by]
    found = large_tables.groups(columns, or_null(values), step.agg, partial(_of_numbers, step)) if rows else []
    if found is None:
        found = [(indexes[0], _aggregate(step, indexes, values)) for indexes in _groups(columns)]
    return [dict(zip(by, [each[at] for each in columns], strict=True)) | {result: value} for at, value in found]


def _groups(columns: list[list[Any]]) -> Iterable[list[int]]:
    """The indexes of the rows of each group."""
    groups: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    for index, place in enumerate(zip(*map(identities, columns), strict=True)):
        groups[place].append(index)
    return groups.values()


def _aggregate(step: GroupBy, rows: list[int], values: list[Any]) -> Any:
    if step.agg == "count":
        return len(rows)
    found = [value for at in rows if (value := values[at]) is not None and value is not MISSING]
    if step.agg in ("min", "max"):
        return _extreme(step, found, rows, values)
    _check_numbers(step, found, rows, values)
    return _of_numbers(step, found)


def _of_numbers(step: GroupBy, numbers: list[Any]) -> Any:
    match step.agg:
        case "count":
            return len(numbers)
        case "sum":
            return _total(numbers)
        case "avg":
            return _total(numbers, among=len(numbers)) if numbers else None
        case "min":
            return min(numbers, default=None)
        case "max":
            return max(numbers, default=None)


def _check_numbers(step: GroupBy, found: list[Any], rows: list[int], values: list[Any]) -> None:
    if not set(map(type, found)) <= NUMBERS:
        for at in rows:
            value = values[at]
            if value is not None and value is not MISSING and rank(value) != NUMBER:
                raise StepError(f"{step.agg} of `{step.field}`: row {at} has {kind_of(value)}, not a number")


def _total(numbers: list[Any], among: int = 0) -> int | float:
    """The sum, or with `among` the average. Exact: the order of the rows makes no difference."""
    try:
        total = math.fsum(numbers) if any(isinstance(each, float) for each in numbers) else sum(numbers)
        result = total / among if among else total
    except OverflowError:
        result = math.inf
    if isinstance(result, float) and not math.isfinite(result):
        raise StepError("the result is too large a number")
    return result


def _extreme(step: GroupBy, found: list[Any], rows: list[int], values: list[Any]) -> Any:
    if not found:
        return None
    choose = min if step.agg == "min" else max
    if alike(found):
        return choose(found)
    first = rank(found[0])
    for at in rows:
        value = values[at]
        if value is not None and value is not MISSING and rank(value) != first:
            what = f"row {at} has {kind_of(value)}, others have {kind_of(found[0])}"
            raise StepError(f"{step.agg} of `{step.field}`: {what}")
    return choose(found, key=order_key)
