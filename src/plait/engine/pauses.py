"""When a run stood still: after an end, until it was reopened; and from the past that a fork shares to its start."""

from __future__ import annotations

from collections.abc import Iterable

from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.kernel.view import Pause

_ENDS = ("run.completed", "run.failed", "run.cancelled")


def pauses(events: Iterable[Recorded], shared: int) -> list[Pause]:
    """`shared`: how many events it took over from the run that it is a fork of."""
    found: list[Pause] = []
    ended: Millis | None = None
    last: Millis | None = None
    for event in events:
        if event.seq == shared + 1 and last is not None:
            found.append(Pause(last, event.at, "forked"))
        elif event.type == "run.reopened" and ended is not None:
            found.append(Pause(ended, event.at, "reopened"))
        if event.type in _ENDS:
            ended = event.at
        last = event.at
    return found
