"""After a load: what should be under way is started again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import apply_effects, lifecycle
from .errors import ErrorInfo
from .ids import TaskToken
from .inputs import Resume, TaskResult
from .task import Task
from .unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from .run import Run


def take_up(resume: Resume, run: Run, draft: UnitOfWork) -> None:
    state = run.state
    if not state.started:
        return
    if state.status != "running" or state.rolling_back:
        if run.machine.accepts_late_results:
            run.ask(resume, draft)
        lifecycle.go_on(run, draft, again=True)
        return
    known, run.blocked = run.blocked, None  # what blocked it may be gone; else the machine says so again
    run.ask(resume, draft)
    if run.blocked != known:
        run.row_is_stale()
    for effect in run.machine.pending(draft.at, recovered=resume.mode == "recover"):
        if isinstance(effect, Task):
            start_again(effect, run, draft)
        else:
            apply_effects.apply([effect], run, draft)
    if run.blocked is None:
        state.tasks.forget_past()


def start_again(task: Task, run: Run, draft: UnitOfWork) -> None:
    """What was under way when its owner went; unless it keeps killing its process, as far as one can tell."""
    tasks = run.state.tasks
    bound = run.limits.max_recoveries if task.policy.recoveries is None else task.policy.recoveries
    attempt = tasks.open(task, draft.at, paced=run.machine.gates_retries and not run.state.rolling_back)
    if attempt is not None and run.recoveries > bound:
        _interrupted(task, attempt, run, draft)
    elif attempt is not None:
        draft.tasks.append((task, attempt))
    elif (waiting := tasks.get(task.token)) is not None and waiting.retry_at is not None:
        draft.set_timer(TaskToken(apply_effects.RETRY + task.token), waiting.retry_at)


def _interrupted(task: Task, attempt: int, run: Run, draft: UnitOfWork) -> None:
    error = ErrorInfo(
        "kernel.task_interrupted",
        f"{task.label} was under way each of the last {run.recoveries} times its process died",
        kind="interrupted",
    )
    run.state.tasks.close(task.token)
    run.dead_letter(task, attempt, error, draft)
    result = TaskResult(task.token, attempt, error=error, attempts=attempt)
    if run.state.rolling_back:
        lifecycle.undone(result, run, draft)
    else:
        run.ask(result, draft)
