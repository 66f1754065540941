"""Which recorded operations a replay need not come to: inside of what has ended, or after a failure that is retried."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from .history import History
from .location import parse, text


class Spares(msgspec.Struct):
    """What only a failure that is retried had led to: operations after event number `since` that the code has not asked
    for, and need not."""

    since: int
    found: list[str] = []


def is_covered(history: History, visited: Collection[str], path: str) -> bool:
    """Whether a finished body around it tells what it came to."""
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
