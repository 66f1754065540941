"""Compensation: undoing what succeeded, newest first, one at a time, for every dialect.

A run that fails, is cancelled with `compensate`, passes its deadline or is asked to, does not end at
once if tasks with a compensator have succeeded: it rolls back first and ends after that with the
outcome it would have had. A compensator that uses up its attempts stops the rollback and becomes a
dead letter: a person retries or discards it. One that is done never runs again.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .errors import ErrorInfo
from .events import Cause, RollbackStarted, RollbackStep, RunCancelled, RunCompleted, RunFailed
from .ids import TaskToken
from .task import Task

FinalEvent = RunCompleted | RunFailed | RunCancelled


class Rollback(msgspec.Struct, omit_defaults=True):
    cause: Cause
    error: ErrorInfo | None = None
    reason: str = ""
    data: Any = None
    done: list[TaskToken] = []
    stuck: TaskToken | None = None
    over: bool = False

    @staticmethod
    def begun(event: RollbackStarted, before: Rollback | None) -> Rollback:
        """What an earlier rollback of the same run has undone stays undone."""
        done = list(before.done) if before else []
        return Rollback(event.cause, event.error, event.reason, event.data, done)

    def evolve(self, event: RollbackStep) -> None:
        self.stuck = event.at if event.status == "failed" else None
        if event.status in ("completed", "discarded"):
            self.done.append(event.at)

    def next(self, compensations: list[Task]) -> Task | None:
        """The newest compensator that has not run."""
        done = set(self.done)
        return next((task for task in reversed(compensations) if task.token not in done), None)

    def outcome(self, before: FinalEvent | None) -> FinalEvent:
        """How the run ends when all is undone: as it would have without compensation."""
        if self.cause == "cancel":
            return RunCancelled(self.reason)
        if self.error is not None:
            return RunFailed(self.error, self.data)
        if before is None:
            raise RuntimeError("a rollback on request needs a run that has ended")
        return before
