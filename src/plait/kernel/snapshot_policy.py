"""When a snapshot of a run's state pays off, so that it need not be folded from its first event."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from .ids import Millis
from .machine import Machine


class SnapshotPolicy(msgspec.Struct, frozen=True, gc=False):
    """Whatever this says, a snapshot is never taken if it would hold more entries than it saves events."""

    every: int = 1000
    """Events, or …"""
    age: Millis = Millis(86_400_000)
    """… milliseconds since the last snapshot,"""
    worth: int = 100
    """given at least this many new events."""

    def is_due(self, since: int, age: int) -> bool:
        """Whether a snapshot is due: `since` in events, `age` in milliseconds."""
        return since >= self.worth and (since >= self.every or age >= self.age)


_SELDOM = SnapshotPolicy()
_often: SnapshotPolicy | None = None


def policy_of(machine: Machine) -> SnapshotPolicy:
    """The policy of a machine: its own, if it has `snapshots`."""
    return _often or getattr(machine, "snapshots", _SELDOM)


@contextmanager
def snapshots_every(events: int) -> Generator[None]:
    """Sets a policy for all runs created or loaded inside the block. Snapshots are rare, for good reason; a short
    simulation needs them often."""
    global _often
    before, _often = _often, SnapshotPolicy(every=events, worth=events)
    try:
        yield
    finally:
        _often = before
