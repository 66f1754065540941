"""Restarts tasks whose process, the owner's or a worker's, has died; unless a task keeps killing its process."""

from __future__ import annotations

from typing import assert_never

from .enqueue import begin, enqueue
from .errors import Conflict, ErrorInfo
from .events import TokenRejected
from .ids import TaskToken
from .inputs import ClaimExpired, Rejected, TaskResult
from .open_tasks import RETRY
from .run import Run
from .task import Task
from .tasks import OpenTask
from .unit_of_work import UnitOfWork

_INTERRUPTED = "kernel.task_interrupted"
_REJECTED = "token.rejected"
_MOST_REJECTIONS = 3
"""Most rejections of one task, or of a run without a task: then a person must act, and the log has enough of them."""


def start_again(task: Task, run: Run, unit: UnitOfWork) -> TaskResult | None:
    """Opens a task after a load. Returns its failure if it was in flight too often when its process died."""
    tasks, bound = run.state.tasks, _bound(task, run)
    opened = tasks.open(task, unit.at, gated=run.machine.gates_retries and not run.state.rolling_back)
    if opened is not None and opened.task.queue is None and run.recoveries > bound:
        return _interrupted(task, opened.attempt, run, unit)
    if opened is not None:
        begin(opened, run, unit)
    elif (waiting := tasks.get(task.token)) is not None and waiting.retry_at is not None:
        unit.set_timer(TaskToken(RETRY + task.token), waiting.retry_at)
    return None


def expired(claim: ClaimExpired, run: Run, unit: UnitOfWork) -> TaskResult | None:
    """A worker sent no heartbeat in time. Its task goes to another worker, in the next attempt; or this returns its
    failure, of a task that is closed by then if that was the last."""
    found = run.state.tasks.get(claim.token)
    if found is None:  # the task is no longer open
        run.state.tasks.close(claim.token)
        unit.dequeue(claim.token)
        return None
    if found.opening != claim.opening:  # it was enqueued again already
        return None
    task, policy, found.progress = found.task, found.task.policy, claim.progress
    match claim.why:
        case "lease":
            return _next_worker(claim, found, run, unit)
        case "timeout":
            message, retryable = f"{task.label} took longer than {policy.timeout:g} s", policy.retry_on_timeout
        case "heartbeat":
            message, retryable = f"{task.label} gave no heartbeat for {policy.heartbeat:g} s", True
        case _:
            assert_never(claim.why)
    unit.dequeue(claim.token)
    error = ErrorInfo(f"task.{claim.why}", message, kind=claim.why)
    return TaskResult(
        claim.token, found.attempt, error=error, retryable=retryable, progress=claim.progress, opening=claim.opening
    )


def rejected(refused: Rejected, run: Run, unit: UnitOfWork) -> TaskResult | None:
    """Records a rejection: nothing was executed, and the task stays on its queue. The third closes it and returns its
    failure."""
    if run.state.status != "running":
        return None
    tasks, found = run.state.tasks, run.state.tasks.get(refused.token)
    if found is None or found.opening != refused.opening:
        found, refused = None, Rejected(refused.reason, node=refused.node)
    times = tasks.rejections.get(refused.token, 0) + 1
    if times > _MOST_REJECTIONS:
        return None
    node = refused.node or (found.task.node if found is not None else "")
    run.emit(TokenRejected(refused.reason, refused.token, node, times), unit)
    if found is None or times < _MOST_REJECTIONS:
        return None
    unit.dequeue(refused.token)
    text = f"{found.task.label} was rejected {times} times: {refused.reason}"
    return _given_up(found.task, found.attempt, ErrorInfo(_REJECTED, text, kind="rejected"), run, unit)


def requeue(token: TaskToken | None, run: Run, unit: UnitOfWork) -> None:
    """Writes the lost row of a queued task again, for its current attempt."""
    found = None if token is None else run.state.tasks.get(token)
    if found is None or not found.opening:
        raise Conflict("kernel.not_queued", f"`{token}` is not on a queue", fix="look at the run again")
    enqueue(found, run, unit)


def _next_worker(claim: ClaimExpired, found: OpenTask, run: Run, unit: UnitOfWork) -> TaskResult | None:
    if found.lost < _bound(found.task, run):
        found.attempt, found.lost = found.attempt + 1, found.lost + 1
        enqueue(found, run, unit, lost_worker=claim.worker)
        return None
    unit.dequeue(claim.token)
    if found.lost:
        text = f"{found.task.label} was lost by {found.lost + 1} workers, the last of them `{claim.worker}`"
    else:
        text = f"{found.task.label} was lost by its worker `{claim.worker}`"
    return _given_up(found.task, found.attempt, ErrorInfo(_INTERRUPTED, text, kind="interrupted"), run, unit)


def _bound(task: Task, run: Run) -> int:
    return run.limits.max_recoveries if task.policy.recoveries is None else task.policy.recoveries


def _interrupted(task: Task, attempt: int, run: Run, unit: UnitOfWork) -> TaskResult:
    when = f"each of the last {run.recoveries} times" if run.recoveries > 1 else "when"
    text = f"{task.label} was under way {when} its process died"
    return _given_up(task, attempt, ErrorInfo(_INTERRUPTED, text, kind="interrupted"), run, unit)


def _given_up(task: Task, attempt: int, error: ErrorInfo, run: Run, unit: UnitOfWork) -> TaskResult:
    run.state.tasks.close(task.token)
    if not run.machine.adds_dead_letters:
        run.dead_letter(task, attempt, error, unit)
    return TaskResult(task.token, attempt, error=error)
