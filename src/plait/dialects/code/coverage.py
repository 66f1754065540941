"""Recorded operations that a replay may skip: inside finished bodies, or reached only through a failure now retried."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from .history import History
from .location import parse, text
from .op_state import OpState


class Spares(msgspec.Struct):
    """Operations that only a failure now retried had led to. The code does not ask for them without that failure."""

    since: int
    """The number of its event. What was opened later is not required."""
    required: frozenset[str] | None = None
    """What was opened earlier and is required; None: all of it."""
    found: list[str] = []

    def take(self, op: OpState) -> bool:
        """Notes an operation that the code has not asked for; False if it is required."""
        if op.opened_seq <= self.since and (self.required is None or op.at in self.required):
            return False
        self.found.append(op.at)
        return True


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
