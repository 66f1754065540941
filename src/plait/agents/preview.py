"""A short preview of a value, at most 2 KB, for people and models, and the reference to the full value."""

from __future__ import annotations

import hashlib
from typing import Any, Final, cast

from msgspec import Raw

from plait.kernel import values

MOST_BYTES: Final = 2_048
_TEXT: Final = 500
_ROWS: Final = 3


def reference(value: Raw) -> str:
    return f"cas://sha256:{hashlib.sha256(bytes(value)).hexdigest()}"


def preview(value: Any) -> Any:
    if isinstance(value, list):
        rows = cast("list[Any]", value)
        about = {"type": "dataset", "row_count": len(rows)}
        return _fitting({**about, "sample": rows[:_ROWS]}) or {**about, "sample": []}
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return _fitting(fields) or {"type": "object", "fields": [name[:40] for name in sorted(fields)[:20]]}
    return _short(value, _TEXT)


def _fitting(value: dict[str, Any]) -> Any:
    """Truncates step by step until it fits; None if it can't."""
    if len(values.plain(value)) <= MOST_BYTES:
        return value
    for length in (200, 50, 10):
        found = _cut(value, length)
        if len(values.plain(found)) <= MOST_BYTES:
            return found
    return None


def _cut(value: Any, length: int) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {name: _cut(each, length) for name, each in list(fields.items())[:length]}
    if isinstance(value, list):
        return [_cut(each, length) for each in cast("list[Any]", value)[: max(_ROWS, length // 10)]]
    return _short(value, length)


def _short(value: Any, length: int) -> Any:
    return f"{value[:length]}…" if isinstance(value, str) and len(value) > length else value
