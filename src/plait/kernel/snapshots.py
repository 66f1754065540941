"""The contents of snapshots, and the compaction of old events.

A snapshot usually only saves reading: the events are all there. But a run whose machine compacts (a loop that trims its
iterations) may continue for years, so its log must not keep everything. Every `keep_events` events the state is stored
as a base; when the next base is, the events before the previous one are compacted. So the log always reaches back at
least that many events and starts at a base: any moment since can still be viewed, forked or rewound to.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from . import values
from .errors import Conflict
from .ids import Millis, Seq, caller_id
from .limits import Limits
from .machine import RunInfo
from .state import KernelState
from .store import Compaction, Snapshot

_EVENTS_AN_ENTRY = 10
"""A base pays off if it replaces this many events for each entry it holds."""


class Base(msgspec.Struct, frozen=True, gc=False):
    """The state after one event."""

    seq: Seq
    at: Millis
    kernel: KernelState
    machine: Raw


class SnapshotBody(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    kernel: KernelState
    machine: Raw
    bases: tuple[Base, ...] = ()
    """Earlier states, from which moments before the snapshot can be folded."""
    compacted: int = 0
    """Number of the last event that is no longer in the log."""


class Snapshots:
    """The snapshots of one run: the bases of its log."""

    bases: tuple[Base, ...] = ()
    compacted: int = 0
    """Events up to this one are no longer in the log, and do not count towards its limit."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def take(self, state: Base, *, compacts: bool, weight: int) -> tuple[Snapshot, Compaction | None]:
        """A snapshot, and the events that are no longer needed."""
        compaction = None
        last = self.bases[-1].seq if self.bases else 0
        if compacts and state.seq - last >= max(self._keep, weight * _EVENTS_AN_ENTRY):
            self.bases = (*self.bases[-1:], state)
            if len(self.bases) == 2:
                self.compacted = self.bases[0].seq
                compaction = Compaction(self.bases[0].seq, state.at)
        return self._snapshot(state, self.bases), compaction

    def restore(self, body: SnapshotBody) -> None:
        self.bases, self.compacted = body.bases, body.compacted

    def beginning(self) -> Snapshot | None:
        """The state at which the log starts, needed by a copy of it."""
        return self._snapshot(self.bases[0], self.bases[:1]) if self.compacted else None

    @property
    def _keep(self) -> int:
        """Events kept: at most a quarter of the run's limit, so that compaction comes before the limit."""
        return min(self._limits.keep_events, self._limits.max_events // 4)

    def _snapshot(self, state: Base, bases: tuple[Base, ...]) -> Snapshot:
        body = SnapshotBody(state.kernel, state.machine, bases, self.compacted)
        return Snapshot(state.seq, state.at, values.plain(body))


def state_at(snapshot: Snapshot, body: SnapshotBody, upto: int | None, info: RunInfo) -> Base | None:
    """The latest state to start folding from; None: from the first event."""
    if upto is None or snapshot.seq <= upto:
        return Base(snapshot.seq, snapshot.at, body.kernel, body.machine)
    base = next((base for base in reversed(body.bases) if base.seq <= upto), None)
    if base is None and body.compacted:
        raise compacted(info, upto, body.compacted)
    return base


def compacted(info: RunInfo, wanted: int, upto: int) -> Conflict:
    return Conflict(
        "kernel.compacted",
        f"event {wanted:,} of run {caller_id(info.run_id)} is no longer in its log",
        why=f"the run goes through a long loop, and its first {upto:,} events were compacted into a snapshot",
        fix=f"use an event from {upto:,} on; Limits(keep_events=...) keeps more of them",
    )
