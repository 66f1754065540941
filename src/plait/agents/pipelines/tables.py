"""Sorts, filters and selects rows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, assert_never, cast

from . import large_tables
from .comparison import NUMBERS, TEXTS, alike, identity, same, sort_keys
from .errors import StepError
from .fields import MISSING, Row, column, kind_of, or_null, rows_of
from .steps import Condition, TableFilter, TableSelect, TableSort, TopK

Holds = Callable[[Any], bool]
_ORDERED: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def sort(step: TableSort, data: object) -> list[Row]:
    """Stable in both directions; rows without the field, or with null, come last and keep their order."""
    rows = rows_of(data)
    values = column(rows, step.field)
    if alike(values):
        return [rows[at] for at in _order(values, step)]
    last = [row for row, value in zip(rows, values, strict=True) if value is MISSING or value is None]
    found = [row for row, value in zip(rows, values, strict=True) if not (value is MISSING or value is None)]
    keys = sort_keys([value for value in values if not (value is MISSING or value is None)])
    return [found[at] for at in _order(keys, step)] + last


def _order(keys: list[Any], step: TableSort) -> list[int]:
    found = large_tables.order(keys, descending=step.order == "desc")
    return found if found is not None else sorted(range(len(keys)), key=keys.__getitem__, reverse=step.order == "desc")


def filter(step: TableFilter, data: object) -> list[Row]:
    """A row without the field is dropped, whatever the operator."""
    rows, condition = rows_of(data), step.condition
    values = column(rows, condition.field)
    if (places := large_tables.kept(values, condition.op, condition.value)) is not None:
        return [rows[at] for at in places]
    if condition.op in _ORDERED:
        return _ordered(rows, values, condition)
    holds = _test(condition)
    return [row for row, value in zip(rows, values, strict=True) if value is not MISSING and holds(value)]


def _ordered(rows: list[Row], values: list[Any], condition: Condition) -> list[Row]:
    """Only numbers and strings have an order, each among themselves."""
    compare, wanted = _ORDERED[condition.op], cast("Any", condition.value)
    kinds = next((each for each in (NUMBERS, TEXTS) if type(wanted) in each), frozenset[type[Any]]())
    return [row for row, value in zip(rows, values, strict=True) if type(value) in kinds and compare(value, wanted)]


def _test(condition: Condition) -> Holds:
    value: Any = condition.value
    match condition.op:
        case "==":
            wanted = identity(value)
            return lambda found: identity(found) == wanted
        case "!=":
            unwanted = identity(value)
            return lambda found: identity(found) != unwanted
        case "in":
            return _member_of(value)
        case "contains":
            return lambda found: _contains(found, value)
        case "<" | ">" | "<=" | ">=":
            raise AssertionError("orders are apart")
        case _:
            assert_never(condition.op)


def _member_of(value: Any) -> Holds:
    if not isinstance(value, list):
        return lambda found: False
    members = {identity(each) for each in cast("list[Any]", value)}
    return lambda found: identity(found) in members


def _contains(found: Any, value: Any) -> bool:
    if isinstance(found, str):
        return isinstance(value, str) and value in found
    return isinstance(found, list) and any(same(each, value) for each in cast("list[Any]", found))


def select(step: TableSelect, data: object) -> list[Row]:
    """Only these fields, in this order; null if a row lacks one."""
    rows = rows_of(data)
    columns = [or_null(column(rows, field)) for field in step.fields]
    return [dict(zip(step.fields, values, strict=True)) for values in zip(*columns, strict=True)]


def top(step: TopK, data: object) -> list[Any]:
    if not isinstance(data, list):
        raise StepError(f"the incoming data must be a list, got {kind_of(data)}")
    return cast("list[Any]", data)[: step.k]
