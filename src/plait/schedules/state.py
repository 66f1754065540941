"""What is known of a schedule beside its settings. It is kept as one record that is only ever changed from the version
that was read: of two engines that decide at once, one decides again."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from plait.api.schedule import Backfill, Cause, Fire, Overlap
from plait.kernel.ids import Millis

KEPT_FIRES = 200
"""Of each schedule, the newest; an older one goes in the commit that adds one."""


class Slot(msgspec.Struct, frozen=True, omit_defaults=True):
    """A time of a schedule, or a request, that is to become a run."""

    at: Millis
    overlap: Overlap
    cause: Cause = "time"
    since: Millis = Millis(0)
    """When it was decided that it starts."""


class State(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    cursor: Millis
    """Of times up to this one it is decided what becomes of them."""
    due: Millis | None = None
    """When somebody has to look at it next: kept as a record that is found by its time."""
    paused: bool = False
    starting: tuple[Slot, ...] = ()
    """Their runs are to be started, or were, by an engine that died before it could say so."""
    waiting: tuple[Slot, ...] = ()
    """For the end of the run before."""
    active: tuple[str, ...] = ()
    """The newest runs that were not seen to have ended."""
    backfills: tuple[Backfill, ...] = ()
    triggered: Millis = Millis(0)
    """The last request."""
    fires: int = 0
    """The number of the last one."""
    last: Fire | None = None


def run_id(name: str, at: Millis) -> str:
    """Of the run of a time: whoever starts it a second time gets the same run."""
    return f"{name}:{moment(at)}"


def moment(at: Millis) -> str:
    """As in ids of runs: `2026-11-18T05:00:00Z`, with milliseconds where there are some."""
    precision = "milliseconds" if at % 1000 else "seconds"
    return datetime.fromtimestamp(at / 1000, UTC).replace(tzinfo=None).isoformat(timespec=precision) + "Z"
