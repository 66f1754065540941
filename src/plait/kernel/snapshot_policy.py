"""When the state of a run is worth setting aside, so that it need not be folded from its first event."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from .ids import Millis
from .machine import Machine


class SnapshotPolicy(msgspec.Struct, frozen=True, gc=False):
    """Whatever it says, no snapshot is taken that would hold more entries than it saves events."""

    every: int = 1000
    """Events, or …"""
    age: Millis = Millis(86_400_000)
    """… milliseconds since the last one, if there is something new:"""
    worth: int = 100
    """events that make an old one worth replacing."""

    def is_due(self, since: int, age: int) -> bool:
        """`since`: events; `age`: milliseconds."""
        return since >= self.worth and (since >= self.every or age >= self.age)


_SELDOM = SnapshotPolicy()
_often: SnapshotPolicy | None = None


def policy_of(machine: Machine) -> SnapshotPolicy:
    """A machine may have one of its own, as `snapshots`."""
    return _often or getattr(machine, "snapshots", _SELDOM)


@contextmanager
def snapshots_every(events: int) -> Generator[None]:
    """For all machines whose runs are read meanwhile. Snapshots are rare, for good reason; a short simulation needs
    them often."""
    global _often
    before, _often = _often, SnapshotPolicy(every=events, worth=events)
    try:
        yield
    finally:
        _often = before
