"""Recorded operations that a replay may skip: inside finished bodies, or reached only through a failure now retried."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from .history import History
from .location import parse, text


class Spares(msgspec.Struct):
    """Operations that only a failure now retried had led to: opened after event number `since`, not asked for by the
    code, and not required."""

    since: int
    found: list[str] = []


def is_covered(history: History, visited: Collection[str], path: str) -> bool:
    """Whether `path` lies in a finished body, whose recorded outcome makes it unnecessary."""
    location = parse(path)
    for length in range(1, len(location)):
        above = history.ops.get(text(location[:length]))
        if above is None or above.kind not in ("join", "race", "loop"):
            continue
        if above.status != "open" or above.at not in visited:
            if above.status != "open":
                return above.at in visited or is_covered(history, visited, above.at)
            continue
        step = location[length]
        if isinstance(step, int) and step < above.iteration:
            return True
        if above.branches is not None and above.branches[str(step)].status != "open":
            return True
    return False
