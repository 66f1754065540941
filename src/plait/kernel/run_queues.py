"""Runs on queues, as rows: a run waits in its queue until a slot is free, and holds the slot for as long as it runs.

A run that is started on a queue exists at once: its row is written with a place in the queue, and its start lies in
the inbox, held back. Admitting it is one transaction that gives it the slot and lets its start go; the owner then takes
that as it takes any start. So a crash leaves the run either waiting or started, and who holds a slot is never counted
but read: those that were admitted and have not ended. A run that ends in any way, or is removed, has given its slot
back by that alone.

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
"""The kind of reason that the row of a waiting run has."""


def waiting_on(queue: str) -> Reason:
    """What the row of a run says that is put on a queue."""
    return Reason(WAITING, f"queue `{queue}`")


class QueueChoice(TypedDict, total=False):
    """On which queue a run waits, and how."""

    queue: str | None
    """The run waits there until a slot is free."""
    priority: int
    """Lower first, then arrival; also of the run's tasks on queues. 0 if not given."""
    partition: str | None
    """The key that a partitioned queue counts by; also of the run's tasks on queues."""


class ChildQueueing(QueueChoice, total=False):
    """How a child run is queued, as its parent says it; times in seconds."""

    dedup_id: str | None
    """While a run of the queue that has this id waits or runs, a start with the same id gives that run."""
    delay: float | timedelta | None
    """The run does not start before."""


class Queueing(ChildQueueing, total=False):
    """How a run is queued, as callers say it."""

    reject: bool
    """A duplicate is refused instead."""
    debounce: float | timedelta | None
    """A start with the same `dedup_id` while the run waits gives it the new input and has it wait that long anew."""


class QueuedRun(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The place of a run in a queue."""

    namespace: str
    queue: str
    partition: str = ""
    priority: int = 0
    """Lower first, then arrival."""
    dedup_id: str | None = None
    """No other run of the queue has it while this one waits or runs."""
    debounced: bool = False
    """It has its `dedup_id` only while it waits."""
    delay: Millis = Millis(0)
    deadline: Millis | None = None


class QueuePlace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How a waiting run stands."""

    queue: str
    ahead: int
    """How many are before it; no more than `MANY` are counted."""
    due: Millis | None
    """It is delayed until then."""
    why: str
    """What keeps the first of them from starting, in a few words; empty if nothing does."""


MANY = 1_000


class AdmissionRound(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one look at a queue has led to."""

    admitted: Sequence[RunId] = ()
    overdue: Sequence[RunId] = ()
    """They still wait, but their deadlines have passed."""
    wait: Millis | None = None
    """When to look again without being asked: the end of a delay, or the next slot of a rate."""
    left: bool = False
    """Whether runs still wait for a slot; those that are delayed don't."""


class SlotHolder(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A run that was admitted, or a task that a worker has claimed."""

    kind: Literal["run", "task"]
    run_id: RunId
    label: str
    """The run's definition, or what the task is called."""
    since: Millis
    partition: str = ""
    worker: str | None = None
    """Of a task."""


class QueueState(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A queue that has limits, or that something waits or works on."""

    namespace: str
    name: str
    settings: QueueSettings | None
    """None: nobody has set limits."""
    waiting_runs: int = 0
    delayed_runs: int = 0
    running_runs: int = 0
    waiting_tasks: int = 0
    running_tasks: int = 0


class RunBacklog(msgspec.Struct, frozen=True, gc=False):
    """How many runs a queue has, for whoever watches all of them."""

    namespace: str
    queue: str
    waiting: int
    delayed: int
    running: int
    oldest: Millis | None
    """Since when the first of those that wait for a slot does."""


class RunQueues(Protocol):
    """The part of a store that admits runs, and keeps the limits of queues. Runs get on queues by `Store.commit`."""

    async def queues(self) -> list[tuple[str, str]]:
        """Those that runs wait on, each as its namespace and its name."""
        ...

    async def admit(self, namespace: str, queue: str, limit: int) -> AdmissionRound:
        """Lets the next runs of a queue start, as its limits allow, in one transaction; at most `limit`."""
        ...

    async def holder(self, namespace: str, queue: str, dedup_id: str) -> RunId | None:
        """The run that has this id, waiting or running."""
        ...

    async def place(self, run_id: RunId) -> QueuePlace | None:
        """None if it does not wait."""
        ...

    async def waiting(self, namespace: str, queue: str, partition: str | None) -> int:
        """How many runs wait; with a partition, of that one."""
        ...

    async def settings(self, namespace: str, queue: str) -> QueueSettings | None: ...

    async def change(
        self, namespace: str, queue: str, change: Callable[[QueueSettings], QueueSettings]
    ) -> QueueSettings:
        """Makes of the settings others, which hold for whatever begins from now on, in every process; what is under way
        counts. Two processes that change them at once do so one after the other."""
        ...

    async def states(self, namespace: str) -> list[QueueState]: ...

    async def backlogs(self) -> list[RunBacklog]:
        """Of all namespaces, the queues that have runs."""
        ...

    async def holders(self, namespace: str, queue: str, limit: int) -> list[SlotHolder]:
        """Who holds slots, the longest first."""
        ...
