"""The state of a schedule besides its settings. It is one record that is only changed if it is still the version that
was read: if two engines decide at the same time, one of them decides again."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from plait.api.schedule import Backfill, Cause, Fire, Overlap
from plait.kernel.ids import Millis

KEPT_FIRES = 200
"""The number of newest fires to keep per schedule; the commit that adds one deletes an older one."""


class Slot(msgspec.Struct, frozen=True, omit_defaults=True):
    """A time of a schedule, or a request, that should become a run."""

    at: Millis
    overlap: Overlap
    cause: Cause = "time"
    since: Millis = Millis(0)
    """When its start was decided."""


class State(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    cursor: Millis
    """The time up to which all outcomes are decided."""
    due: Millis | None = None
    """When it must be checked next; also stored as a record that is found by its time."""
    paused: bool = False
    starting: tuple[Slot, ...] = ()
    """Slots whose runs must be started, or were started by an engine that died before it recorded that."""
    waiting: tuple[Slot, ...] = ()
    """Slots that wait until the run before ends."""
    active: tuple[str, ...] = ()
    """The newest runs that are not known to have ended."""
    backfills: tuple[Backfill, ...] = ()
    triggered: Millis = Millis(0)
    """The time of the last request by hand."""
    fires: int = 0
    """The number of the last fire."""
    last: Fire | None = None


def run_id(name: str, at: Millis) -> str:
    """Returns the id of a time's run: starting it a second time returns the same run."""
    return f"{name}:{moment(at)}"


def moment(at: Millis) -> str:
    """Formats a time as in run ids: `2026-11-18T05:00:00Z`, with milliseconds if there are any."""
    precision = "milliseconds" if at % 1000 else "seconds"
    return datetime.fromtimestamp(at / 1000, UTC).replace(tzinfo=None).isoformat(timespec=precision) + "Z"
