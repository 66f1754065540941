"""Parses dates and times from strings."""

from __future__ import annotations

from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .errors import StepError
from .fields import MISSING, Row, column, kind_of, rows_of
from .steps import ParseDate


class UnknownZone(Exception):
    """There is no time zone with that name."""


@lru_cache(256)
def zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UnknownZone(name) from None


def parse(step: ParseDate, data: object) -> list[Row]:
    """ISO 8601 with an offset: the one in the text, else that of the time zone; the earlier one where a clock change
    makes it ambiguous."""
    rows, into, place = rows_of(data), step.into or step.field, zone(step.tz)
    return [
        row if value is MISSING else row | {into: _parsed(step, value, index, place)}
        for index, (row, value) in enumerate(zip(rows, column(rows, step.field), strict=True))
    ]


def _parsed(step: ParseDate, value: Any, index: int, place: tzinfo) -> str | None:
    if value is None:
        return None
    try:
        return _moment(step, value, place).isoformat()
    except (ValueError, OverflowError, TypeError) as error:
        if step.on_error == "null":
            return None
        shown = f"`{value[:100]}`" if isinstance(value, str) else kind_of(value)
        wanted = f"format `{step.format}`" if step.format is not None else "ISO 8601"
        raise StepError(f"`{step.field}` of row {index}, {shown}, is no date in {wanted}") from error


def _moment(step: ParseDate, value: Any, place: tzinfo) -> datetime:
    if not isinstance(value, str):
        raise TypeError(kind_of(value))
    found = datetime.fromisoformat(value) if step.format is None else datetime.strptime(value, step.format)
    return found if found.tzinfo is not None else found.replace(tzinfo=place)
