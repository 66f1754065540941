"""Starting tasks again that were under way when their owner went; unless one keeps killing its process."""

from __future__ import annotations

from .apply_effects import RETRY
from .errors import ErrorInfo
from .ids import TaskToken
from .inputs import TaskResult
from .run import Run
from .task import Task
from .unit_of_work import UnitOfWork


def start_again(task: Task, run: Run, unit: UnitOfWork) -> TaskResult | None:
    """Opens a task after a load. Returns its failure if it was under way too often when its process died."""
    tasks, given = run.state.tasks, task.policy.recoveries
    bound = run.limits.max_recoveries if given is None else given
    opened = tasks.open(task, unit.at, gated=run.machine.gates_retries and not run.state.rolling_back)
    if opened is not None and run.recoveries > bound:
        return _interrupted(task, opened.attempt, run, unit)
    if opened is not None:
        unit.tasks.append(opened)
    elif (waiting := tasks.get(task.token)) is not None and waiting.retry_at is not None:
        unit.set_timer(TaskToken(RETRY + task.token), waiting.retry_at)
    return None


def _interrupted(task: Task, attempt: int, run: Run, unit: UnitOfWork) -> TaskResult:
    error = ErrorInfo(
        "kernel.task_interrupted",
        f"{task.label} was under way each of the last {run.recoveries} times its process died",
        kind="interrupted",
    )
    run.state.tasks.close(task.token)
    run.dead_letter(task, attempt, error, unit)
    return TaskResult(task.token, attempt, error=error)
