"""Paths into JSON: `items[0].id`, `items.0.id`, `labels["a.b"]`. `[n]` equals `.n`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, cast

_PART: Final = re.compile(
    r"""\.?(?P<name>[^.\[\]"'\s]+) | \[(?P<index>[0-9]+)\] | \[(?P<quote>["'])(?P<key>.*?)(?P=quote)\]""", re.VERBOSE
)
_INDEX: Final = re.compile(r"[0-9]{1,18}", re.ASCII)

MISSING: Final = object()
"""The result of a path that leads nowhere."""


def parse(text: str) -> tuple[str, ...] | None:
    """The parts of a path, or None if it is invalid. An empty text is the path to the value itself."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None or (parts and found["name"] and text[at] != ".") or (not parts and text[at] == "."):
            return None
        parts.append(found["name"] or found["index"] or found["key"] or "")
        at = found.end()
    return tuple(parts)


def follow(value: Any, parts: Sequence[str]) -> Any:
    """The value at the end of a path, or `MISSING`."""
    for part in parts:
        if isinstance(value, dict):
            if part not in value:
                return MISSING
            value = cast("dict[str, Any]", value)[part]
        elif isinstance(value, list) and _INDEX.fullmatch(part) and int(part) < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[int(part)]
        else:
            return MISSING
    return value
