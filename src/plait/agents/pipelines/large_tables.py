"""Sorts, filters, groups and joins columns of large tables with Polars, if it is installed (extra `tables`).

All functions return row indexes, or None if the column does not fit and plain code has to do the work. A column fits
if Polars compares its values exactly as JSON does: only 64-bit integers, only floats, or only strings, each with
nulls. Sums of floats are rounded once, at the end, so their values are only collected here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, cast

import msgspec

LEAST_ROWS = 10_000
"""Smaller tables gain nothing. Tests and benchmarks set it."""
_NULL: Final = type(None)
_type_of: Callable[[Any], type[Any]] = type
_LARGEST: Final = 2**63 - 1
_COMPARE: Final = {"<": "lt", ">": "gt", "<=": "le", ">=": "ge", "==": "eq_missing", "!=": "ne_missing"}

Compute = Callable[[list[Any]], Any]
Pair = tuple[int, int | None]
"""A row of the left table, and its match in the right one."""


class TooMany(msgspec.Struct, frozen=True):
    """The result would have more rows than allowed."""


@cache
def _polars() -> Any:
    """None if it is not installed."""
    try:
        import polars
    except ModuleNotFoundError:
        return None
    return polars


def _installed(rows: int) -> Any:
    """None also for tables that are too small."""
    return _polars() if rows >= LEAST_ROWS else None


def order(values: list[Any], *, descending: bool) -> list[int] | None:
    """Row indexes in sorted order; the sort is stable. Only for columns without nulls."""
    pl = _installed(len(values))
    if pl is None:
        return None
    found = _series(pl, values)
    if found is None or found.has_nulls():
        return None
    places = pl.arg_sort_by("value", descending=descending, maintain_order=True)
    return cast("list[int]", found.alias("value").to_frame().select(places).to_series().to_list())


def kept(values: list[Any], op: str, wanted: Any) -> list[int] | None:
    """Indexes of the rows that meet a condition."""
    pl = _installed(len(values))
    if pl is None or op not in _COMPARE or wanted is None:
        return None
    found, one = _series(pl, values), _series(pl, [wanted])
    if found is None or one is None or found.dtype != one.dtype:
        return None
    return cast("list[int]", getattr(found, _COMPARE[op])(one).fill_null(False).arg_true().to_list())


def groups(columns: list[list[Any]], values: list[Any], agg: str, compute: Compute) -> list[tuple[int, Any]] | None:
    """The first row of each group, in that order, and the group's aggregate; `compute` aggregates floats."""
    pl = _installed(len(columns[0]))
    if pl is None:
        return None
    frame = _keys(pl, columns)
    if frame is None:
        return None
    if agg == "count":
        made = _grouped(pl, frame, pl.len())
        return [*zip(made["row"].to_list(), made["result"].to_list(), strict=True)]
    found, value = _series(pl, values), pl.col("value")
    if found is None or (agg in ("sum", "avg") and not _adds_up(pl, found)):
        return None
    frame = frame.with_columns(found.alias("value"))
    if found.dtype == pl.Float64:
        made = _grouped(pl, frame, value.drop_nulls())
        return [*zip(made["row"].to_list(), map(compute, made["result"].to_list()), strict=True)]
    made = _grouped(pl, frame, {"min": value.min, "max": value.max}.get(agg, value.sum)())
    results = made["result"].to_list()
    if agg == "avg":
        results = [total / count if count else None for total, count in zip(results, made["count"], strict=True)]
    return [*zip(made["row"].to_list(), results, strict=True)]


def matches(
    lefts: list[list[Any]], rights: list[list[Any]], *, keep_left: bool, most: int
) -> Iterable[Pair] | TooMany | None:
    """Pairs of rows with equal keys, in the order of the left table, then of the right one. Nulls equal nothing. With
    `keep_left`, a row without a match is paired with None."""
    pl = _installed(max(len(lefts[0]), len(rights[0])))
    if pl is None:
        return None
    left, right = _keys(pl, lefts), _keys(pl, rights)
    if left is None or right is None or left.schema != right.schema:
        return None
    names = [name for name in left.columns if name != "row"]
    counts = left.join(right.group_by(names).len(), on=names, how="left")["len"].fill_null(int(keep_left))
    if counts.sum() > most:
        return TooMany()
    pairs = left.join(right, on=names, how="left" if keep_left else "inner", maintain_order="left_right")
    return zip(pairs["row"].to_list(), pairs["row_right"].to_list(), strict=True)


def _grouped(pl: Any, frame: Any, aggregate: Any) -> Any:
    names = [name for name in frame.columns if name not in ("row", "value")]
    count = pl.col("value").count().alias("count") if "value" in frame.columns else pl.len().alias("count")
    return frame.group_by(names, maintain_order=True).agg(pl.col("row").first(), aggregate.alias("result"), count)


def _keys(pl: Any, columns: list[list[Any]]) -> Any:
    """A frame of the keys and their row indexes; None if a column does not fit."""
    found = [_series(pl, column) for column in columns]
    if any(each is None for each in found):
        return None
    return pl.DataFrame([each.alias(f"key{at}") for at, each in enumerate(found)]).with_row_index("row")


def _series(pl: Any, values: list[Any]) -> Any:
    """None if the column does not fit."""
    kinds = set(map(_type_of, values)) - {_NULL}
    dtype = {int: pl.Int64, float: pl.Float64, str: pl.String}.get(kinds.pop()) if len(kinds) == 1 else None
    if dtype is None:
        return None
    try:
        return pl.Series(values=values, dtype=dtype, strict=True)
    except (OverflowError, TypeError, pl.exceptions.PolarsError):  # an integer of more than 64 bits
        return None


def _adds_up(pl: Any, numbers: Any) -> bool:
    """Whether they are numbers, and no sum of the integers can overflow 64 bits."""
    if numbers.dtype != pl.Int64:
        return numbers.dtype == pl.Float64
    least, most = numbers.min(), numbers.max()
    return max(-least, most) * len(numbers) <= _LARGEST
