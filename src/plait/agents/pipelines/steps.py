"""The ten steps and their parameters, as people write them."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

Name = Annotated[str, Meta(min_length=1, max_length=1000)]
Operator = Literal["<", ">", "<=", ">=", "==", "!=", "in", "contains"]
Aggregate = Literal["count", "sum", "avg", "min", "max"]
Table = Name | list[Any] | None
"""A reference to a stored table, or the table itself; None is the incoming data."""


class HttpRequest(msgspec.Struct, frozen=True):
    url: Name
    method: Literal["GET", "POST"] = "GET"
    params: dict[str, Any] = {}
    headers: dict[str, Any] = {}
    auth_profile: Name | None = None


class TableSort(msgspec.Struct, frozen=True):
    field: Name
    order: Literal["asc", "desc"] = "asc"


class Condition(msgspec.Struct, frozen=True):
    field: Name
    op: Operator
    value: Any | UnsetType = UNSET


class TableFilter(msgspec.Struct, frozen=True):
    condition: Condition


class TableSelect(msgspec.Struct, frozen=True):
    fields: list[Name]


class TopK(msgspec.Struct, frozen=True):
    k: Annotated[int, Meta(ge=1)]


class GroupBy(msgspec.Struct, frozen=True):
    by: Name | list[Name]
    agg: Aggregate = "count"
    field: Name | None = None


class Join(msgspec.Struct, frozen=True):
    on: Name | list[Name]
    left: Table = None
    right: Table = None
    how: Literal["inner", "left"] = "inner"


class JqTransform(msgspec.Struct, frozen=True):
    query: Annotated[str, Meta(min_length=1, max_length=10_000)]


class RegexExtract(msgspec.Struct, frozen=True):
    pattern: Name
    field: Name | None = None
    into: Name | None = None


class ParseDate(msgspec.Struct, frozen=True):
    field: Name
    format: Name | None = None
    into: Name | None = None
    tz: Name = "UTC"
    on_error: Literal["fail", "null"] = "fail"


Step = (
    HttpRequest | TableSort | TableFilter | TableSelect | TopK | GroupBy | Join | JqTransform | RegexExtract | ParseDate
)

STEPS: Final[dict[str, type[Step]]] = {
    "http_request": HttpRequest,
    "table_sort": TableSort,
    "table_filter": TableFilter,
    "table_select": TableSelect,
    "top_k": TopK,
    "groupby": GroupBy,
    "join": Join,
    "jq_transform": JqTransform,
    "regex_extract": RegexExtract,
    "parse_date": ParseDate,
}
NAMES: Final = {type: name for name, type in STEPS.items()}


def names(given: str | list[str]) -> list[str]:
    """A single name stands for a list of one."""
    return [given] if isinstance(given, str) else given
