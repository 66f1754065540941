"""Tasks on queues: the decision that opens an attempt writes the task's row, and an event records it.

The event makes the row part of the log: a run that is read again knows which of its tasks are on a queue, and neither
executes them itself nor enqueues them twice.
"""

from __future__ import annotations

from . import task_payload
from .events import TaskQueued
from .ids import Millis, TaskToken
from .queued import QueuedTask, Terms
from .run import Run
from .state import StartedFrom
from .task import Policy
from .tasks import OpenTask
from .unit_of_work import UnitOfWork

_NO_QUEUEING = StartedFrom()


def begin(opened: OpenTask, run: Run, unit: UnitOfWork) -> None:
    """Starts an attempt once this is on disk: here, or wherever a worker claims it."""
    if opened.task.queue is None:
        unit.tasks.append(opened)
    else:
        enqueue(opened, run, unit)


def enqueue(opened: OpenTask, run: Run, unit: UnitOfWork, *, lost_worker: str = "") -> None:
    task, attempt, queue = opened.task, opened.attempt, opened.task.queue
    if queue is None:
        raise AssertionError(f"task {task.token} has no queue")
    run.emit(TaskQueued(task.token, attempt, queue, opened.lost, lost_worker), unit)
    body, refs, blobs = task_payload.slim(task.input, run.limits.blob_threshold)
    queueing = run.state.queueing or _NO_QUEUEING
    row = QueuedTask(
        run_id=run.id,
        shard=run.shard,
        namespace=run.info.namespace,
        token=task.token,
        opening=opened.opening,
        attempt=attempt,
        queue=queue,
        kind=task.kind,
        handler=getattr(task.input, "handler", ""),
        label=task.label,
        node=task.node,
        key=task.key,
        input=body,
        blobs=refs,
        timeout=_millis(task.policy.timeout),
        heartbeat=_millis(task.policy.heartbeat),
        terms=_terms(task.policy),
        progress=opened.progress,
        enqueued_at=unit.at,
        priority=queueing.priority,
        partition=queueing.partition,
        code=task.code,
    )
    unit.enqueue(row, blobs)


def dequeue(token: TaskToken, run: Run, unit: UnitOfWork) -> None:
    """Removes a task from its queue: no worker may claim it any more."""
    if run.state.tasks.is_queued(token):
        unit.dequeue(token)


def _millis(seconds: float | None) -> Millis | None:
    return None if seconds is None else Millis(max(1, round(seconds * 1000)))


def _terms(policy: Policy) -> Terms:
    never = [f"{error.__module__}:{error.__qualname__}" for error in policy.retry.never]
    return Terms(policy.retry_on_timeout, never)
