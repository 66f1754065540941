"""Literals in a recorded input: the parts without references, as the values that were sent."""

from __future__ import annotations

from typing import Any, cast

from plait.conditions.paths import MISSING
from plait.dialects.refs.references.template import parse


def literal(stored: Any) -> Any:
    """The value that this stands for; `MISSING` if there is a reference in it."""
    if isinstance(stored, str):
        return _text(stored) if "@" in stored else stored
    if isinstance(stored, dict):
        fields = {key: literal(each) for key, each in cast("dict[str, Any]", stored).items()}
        return MISSING if any(each is MISSING for each in fields.values()) else fields
    if isinstance(stored, list):
        items = [literal(each) for each in cast("list[Any]", stored)]
        return MISSING if any(each is MISSING for each in items) else items
    return stored


def _text(stored: str) -> Any:
    parts = parse(stored).parts
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if len(texts) == len(parts) else MISSING
