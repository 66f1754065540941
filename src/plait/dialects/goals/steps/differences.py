"""Where two steps differ, as dotted paths: `http.endpoint`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from .step import Step, emitted

_SHOWN = 5


def differences(old: Step, new: Step) -> list[str]:
    """The first few places, in order."""
    found = sorted(_walk(emitted(old), emitted(new), ""))
    return [*found[:_SHOWN], "…"] if len(found) > _SHOWN else found


def _walk(old: Any, new: Any, path: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        before, after = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        for key in before.keys() | after.keys():
            where = f"{path}.{key}" if path else key
            if key in before and key in after:
                yield from _walk(before[key], after[key], where)
            else:
                yield where
    elif old != new:
        yield path
