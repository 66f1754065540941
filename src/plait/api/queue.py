"""Queues: their limits, what waits on them, and who holds their slots."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from plait.kernel.ids import Millis

from .shape import Body, Shape

YEAR_MS = 366 * 86_400_000
Limit = Annotated[int, Meta(ge=1, le=2**31 - 1)]


class QueueLimits(Shape, frozen=True, kw_only=True):
    """What is left out has no limit. Runs and tasks are counted apart."""

    concurrency: int | None = None
    """How many at once, over all processes."""
    per_worker: int | None = None
    """How many tasks one worker has at once."""
    rate: int | None = None
    """How many may begin in any `period_ms`."""
    period_ms: int | None = None
    """Of `rate`."""
    partitioned: bool = False
    """Each key has these limits for itself."""
    max_waiting: int | None = None
    """More runs than these are refused; of each key, if partitioned."""
    paused: bool = False
    """Nothing begins; what has begun continues."""


class Queue(Shape, frozen=True, kw_only=True):
    name: str
    namespace: str
    limits: QueueLimits | None = None
    """Left out: nobody has set any."""
    waiting_runs: int = 0
    delayed_runs: int = 0
    running_runs: int = 0
    waiting_tasks: int = 0
    running_tasks: int = 0


class QueueList(Shape, frozen=True, kw_only=True):
    queues: list[Queue]


class QueueSlot(Shape, frozen=True, kw_only=True):
    """A run that was admitted, or a task that a worker has claimed."""

    kind: Literal["run", "task"]
    run_id: str
    label: str
    """The run's definition, or the name of the task."""
    since: Millis
    partition: str = ""
    worker: str | None = None


class QueueWorker(Shape, frozen=True, kw_only=True):
    """A worker that asked for tasks lately."""

    worker: str
    seen_at: Millis


class QueueDetail(Shape, frozen=True, kw_only=True):
    queue: Queue
    slots: list[QueueSlot]
    """Who holds slots, the longest first; at most 1,000."""
    workers: list[QueueWorker]


class SetQueue(Body, frozen=True, kw_only=True):
    """The limits of a queue, in place of those that it had; what is left out has no limit."""

    concurrency: Limit | None = None
    per_worker: Limit | None = None
    rate: Limit | None = None
    period_ms: Annotated[int, Meta(ge=1, le=YEAR_MS)] = 1_000
    partitioned: bool = False
    max_waiting: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
