"""A large payload as an agent gets it, where a graph summarizes: its address, and a preview of at most 2 KB."""

from __future__ import annotations

import hashlib
from typing import Any, cast

import msgspec
from msgspec import Raw

PREVIEW_BYTES = 2_048
_TEXT = 500
_ROWS = 3
_encode = msgspec.json.Encoder().encode


def summarized(payload: Raw, above: int | None) -> Raw:
    """The payload itself if it is small enough."""
    data = bytes(payload)
    if above is None or len(data) <= above:
        return payload
    ref = f"cas://sha256:{hashlib.sha256(data).hexdigest()}"
    return Raw(_encode({"ref": ref, "bytes": len(data), "preview": preview(msgspec.json.decode(data))}))


def preview(value: Any) -> Any:
    if isinstance(value, list):
        rows = cast("list[Any]", value)
        return _fitting({"type": "dataset", "row_count": len(rows), "sample": rows[:_ROWS]})
    if isinstance(value, dict):
        return _fitting(cast("dict[str, Any]", value))
    return _short(value, _TEXT)


def _fitting(value: Any) -> Any:
    """Cut, more and more, until it fits."""
    for length in (200, 50, 10):
        found = _cut(value, length)
        if len(_encode(found)) <= PREVIEW_BYTES:
            return found
    return {"type": "object", "fields": [name[:40] for name in sorted(value)[:20]]}


def _cut(value: Any, length: int) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {name: _cut(each, length) for name, each in list(fields.items())[:length]}
    if isinstance(value, list):
        return [_cut(each, length) for each in cast("list[Any]", value)[: max(_ROWS, length // 10)]]
    return _short(value, length)


def _short(value: Any, length: int) -> Any:
    return f"{value[:length]}…" if isinstance(value, str) and len(value) > length else value
