"""Queued runs, as rows: a run waits in its queue for a free slot, and holds the slot while it runs.

A run started on a queue exists at once: its row is written with a place in the queue, and its start is held back in the
inbox. Admission is one transaction that gives it the slot and releases its start; the owner then takes that like any
start. So a crash leaves the run either waiting or started, and slot holders are never counted by a counter but read:
the runs that were admitted and have not ended. A run that ends in any way, or is removed, thereby frees its slot.

    started  ->  waits (perhaps delayed)  ->  admitted, holds a slot  ->  ended: the row goes with the next look
                   └─ cancelled, overdue: its start and the cancel go to the owner together
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Literal, Protocol, TypedDict

import msgspec

from .admission import QueueSettings
from .ids import Millis, RunId
from .view import Reason

WAITING = "queued"
"""The kind of the wait reason of a queued run."""


def waiting_on(queue: str) -> Reason:
    """The wait reason in the row of a queued run."""
    return Reason(WAITING, f"queue `{queue}`")


class QueueChoice(TypedDict, total=False):
    """The queue a run waits on, with its priority and partition."""

    queue: str | None
    """The run waits there until a slot is free."""
    priority: int
    """Priority of the run and of its queued tasks: lower first, then by arrival. Default 0."""
    partition: str | None
    """The key by which a partitioned queue counts the run and its queued tasks."""


class ChildQueueing(QueueChoice, total=False):
    """How a parent queues a child run; times in seconds."""

    dedup_id: str | None
    """While a run of the queue with this id waits or runs, another start with it returns that run."""
    delay: float | timedelta | None
    """Earliest start, counted from now."""


class Queueing(ChildQueueing, total=False):
    """How a caller queues a run."""

    reject: bool
    """Refuses a duplicate instead of returning the earlier run."""
    debounce: float | timedelta | None
    """While the run waits, a start with the same `dedup_id` replaces its input and restarts this delay."""


class QueuedRun(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The place of a run in a queue."""

    namespace: str
    queue: str
    partition: str = ""
    priority: int = 0
    """Lower first, then by arrival."""
    dedup_id: str | None = None
    """No other run of the queue may have it while this one waits or runs."""
    debounced: bool = False
    """It keeps its `dedup_id` only while it waits."""
    delay: Millis = Millis(0)
    deadline: Millis | None = None


class QueuePlace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The position of a waiting run."""

    queue: str
    ahead: int
    """How many runs are ahead; at most `MANY` are counted."""
    due: Millis | None
    """The run is delayed until then."""
    why: str
    """What keeps the first run of the queue from starting, in a few words; empty if nothing does."""


MANY = 1_000


class AdmissionRound(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The result of one round of admission on a queue."""

    admitted: Sequence[RunId] = ()
    overdue: Sequence[RunId] = ()
    """Runs that still wait although their deadlines have passed."""
    wait: Millis | None = None
    """Milliseconds until the next check is due by itself: the end of a delay, or the next slot of a rate limit."""
    left: bool = False
    """Whether runs still wait for a slot, not counting delayed ones."""


class SlotHolder(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A run that was admitted, or a task that a worker has claimed."""

    kind: Literal["run", "task"]
    run_id: RunId
    label: str
    """The run's definition, or the task's label."""
    since: Millis
    partition: str = ""
    worker: str | None = None
    """The worker of a task."""


class QueueState(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A queue that has limits, or waiting or running entries."""

    namespace: str
    name: str
    settings: QueueSettings | None
    """None: no limits are set."""
    waiting_runs: int = 0
    delayed_runs: int = 0
    running_runs: int = 0
    waiting_tasks: int = 0
    running_tasks: int = 0


class RunBacklog(msgspec.Struct, frozen=True, gc=False):
    """Run counts of a queue, for monitoring all of them."""

    namespace: str
    queue: str
    waiting: int
    delayed: int
    running: int
    oldest: Millis | None
    """Since when the longest-waiting run waits for a slot."""


class RunQueues(Protocol):
    """The part of a store that admits runs and keeps the limits of queues. Runs are queued by `Store.commit`."""

    async def queues(self) -> list[tuple[str, str]]:
        """Queues with waiting runs, as (namespace, name)."""
        ...

    async def admit(self, namespace: str, queue: str, limit: int) -> AdmissionRound:
        """Admits the next runs of a queue within its limits, in one transaction; at most `limit`."""
        ...

    async def holder(self, namespace: str, queue: str, dedup_id: str) -> RunId | None:
        """The waiting or running run with this dedup id."""
        ...

    async def place(self, run_id: RunId) -> QueuePlace | None:
        """A run's position; None if it is not waiting."""
        ...

    async def waiting(self, namespace: str, queue: str, partition: str | None) -> int:
        """How many runs wait; with a partition, in that partition."""
        ...

    async def settings(self, namespace: str, queue: str) -> QueueSettings | None: ...

    async def change(
        self, namespace: str, queue: str, change: Callable[[QueueSettings], QueueSettings]
    ) -> QueueSettings:
        """Changes a queue's settings. They apply to all later starts, in every process; running entries count.
        Concurrent changes are applied one after the other."""
        ...

    async def states(self, namespace: str) -> list[QueueState]: ...

    async def backlogs(self) -> list[RunBacklog]:
        """All queues that have runs, of all namespaces."""
        ...

    async def holders(self, namespace: str, queue: str, limit: int) -> list[SlotHolder]:
        """Slot holders, longest first."""
        ...
