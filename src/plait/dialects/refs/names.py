"""What the dialect and its definitions are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

NAME: Final = "refs"
"""Of the dialect."""


def label_of(definition: Mapping[str, Any]) -> str:
    """What lists of runs call a definition."""
    for field in ("id", "title", "use"):
        found = definition.get(field)
        if isinstance(found, str) and found:
            return found[:200]
    return NAME
