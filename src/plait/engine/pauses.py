"""Times in which a run stood still: between an end and a reopen, and between a fork's shared past and its start."""

from __future__ import annotations

from collections.abc import Iterable

from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.kernel.view import Pause

_ENDS = ("run.completed", "run.failed", "run.cancelled")


def pauses(events: Iterable[Recorded], shared: int) -> list[Pause]:
    """The pauses of a run. `shared`: number of events copied from the run it was forked from."""
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
