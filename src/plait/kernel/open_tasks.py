"""Opens, retries and revokes the tasks of a run."""

from __future__ import annotations

from .enqueue import begin, dequeue, enqueue
from .ids import TaskToken
from .run import Run
from .task import Task
from .unit_of_work import UnitOfWork

RETRY = "~retry:"


def open_task(task: Task, run: Run, unit: UnitOfWork) -> None:
    opened = run.state.tasks.open(task, unit.at)
    if opened is None:
        return
    if opened.task.queue is None:  # by far the most common
        unit.tasks.append(opened)
    else:
        enqueue(opened, run, unit)


def try_again(token: TaskToken, run: Run, unit: UnitOfWork) -> None:
    again = run.state.tasks.retry(token)
    if again is not None:
        begin(again, run, unit)


def revoke(token: TaskToken, run: Run, unit: UnitOfWork) -> None:
    """Stops a task whose result is no longer needed, or does not even start it."""
    dequeue(token, run, unit)
    if run.state.tasks.close(token):
        unit.tasks = [opened for opened in unit.tasks if opened.task.token != token]
        unit.revoked = [*(unit.revoked or ()), token]
        unit.clear_timer(TaskToken(RETRY + token))


def revoke_all(run: Run, unit: UnitOfWork) -> None:
    for token in [*run.state.tasks, *run.state.tasks.unopened]:
        revoke(token, run, unit)


def revoke_waiting(run: Run, unit: UnitOfWork) -> None:
    """Revokes tasks that wait for a retry or for something else; work in flight continues."""
    for token in run.state.tasks.waiting():
        revoke(token, run, unit)
