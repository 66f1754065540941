"""Extracts parts of strings by a regular expression, in linear time."""

from __future__ import annotations

from typing import Any, Final, cast

from plait.conditions.regex import Pattern, compiled

from .errors import StepError
from .fields import column, kind_of, rows_of
from .steps import RegexExtract

_MOST_STEPS: Final = 10_000_000
"""Matcher steps over all rows: some seconds."""


def extract(step: RegexExtract, data: object) -> Any:
    """Rows with the first match of a field; without a field, the first match of a string, or of each string in a
    list."""
    matcher = _Matcher(compiled(step.pattern))
    if step.field is not None:
        return _in_rows(step.field, step.into or f"{step.field}_extracted", matcher, data)
    if isinstance(data, str):
        return matcher.first(data)
    if not isinstance(data, list):
        raise StepError(f"without `field` it takes a text or a list of texts, got {kind_of(data)}")
    texts = cast("list[Any]", data)
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise StepError(f"without `field` it takes a text or a list of texts: item {index} is {kind_of(text)}")
    return [matcher.first(text) for text in texts]


def _in_rows(field: str, into: str, matcher: _Matcher, data: object) -> list[dict[str, Any]]:
    rows = rows_of(data)
    return [
        row | {into: matcher.first(value) if isinstance(value, str) else None}
        for row, value in zip(rows, column(rows, field), strict=True)
    ]


class _Matcher:
    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self._left = _MOST_STEPS

    def first(self, text: str) -> Any:
        self._left -= self._pattern.steps(text)
        if self._left < 0:
            raise StepError("matching takes too long: use a shorter pattern, or fewer or shorter texts")
        return self._pattern.first(text)
