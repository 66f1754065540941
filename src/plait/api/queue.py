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
    """Maximum number in progress, over all processes."""
    per_worker: int | None = None
    """Maximum number of tasks per worker."""
    rate: int | None = None
    """Maximum number of starts in any `period_ms`."""
    period_ms: int | None = None
    """The period of `rate` in milliseconds."""
    partitioned: bool = False
    """Whether the limits apply to each key separately."""
    max_waiting: int | None = None
    """Maximum number of waiting runs, for each key if partitioned; more are refused."""
    paused: bool = False
    """Whether starts are paused; runs and tasks in progress continue."""


class Queue(Shape, frozen=True, kw_only=True):
    name: str
    namespace: str
    limits: QueueLimits | None = None
    """The limits; left out if none have been set."""
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
    """The holders of slots, longest first; at most 1,000."""
    workers: list[QueueWorker]


class SetQueue(Body, frozen=True, kw_only=True):
    """The limits of a queue, in place of those that it had; what is left out has no limit."""

    concurrency: Limit | None = None
    per_worker: Limit | None = None
    rate: Limit | None = None
    period_ms: Annotated[int, Meta(ge=1, le=YEAR_MS)] = 1_000
    partitioned: bool = False
    max_waiting: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
