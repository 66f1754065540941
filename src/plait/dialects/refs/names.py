"""The name of the dialect, and the labels of its definitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

NAME: Final = "refs"
"""The name of the dialect."""


def label_of(definition: Mapping[str, Any]) -> str:
    """The name shown in lists of runs."""
    for field in ("id", "title", "use"):
        found = definition.get(field)
        if isinstance(found, str) and found:
            return found[:200]
    return NAME
