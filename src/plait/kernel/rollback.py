"""Compensation: undoing what succeeded, newest first, one at a time, for every dialect.

A run that fails, is cancelled with `compensate`, passes its deadline or is asked to, does not end at once if tasks with
a compensator have succeeded: it rolls back first, and then ends with the outcome it would have had. A compensator that
exhausts its attempts becomes a dead letter. The dialect decides whether that stops the others; either way the run ends,
and a person retries or discards the dead letter later. A completed compensator never runs again.
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
    failed: list[TaskToken] = []
    """Compensators that failed for good and were neither retried nor discarded since."""
    only: list[TaskToken] = []
    """The compensators to run; empty: all."""
    over: bool = False
    superseded: bool = False
    """The run has continued since: its later work is not compensated with the rest of this."""
    asking: TaskToken | None = None
    """The child that was asked to compensate and has not answered yet."""
    stuck: TaskToken | None = None
    """Only in snapshots of older releases, where the first failure stopped everything."""

    def __post_init__(self) -> None:
        if self.stuck is not None and self.stuck not in self.failed:
            self.failed.append(self.stuck)
        self.stuck = None

    @staticmethod
    def begun(event: RollbackStarted, before: Rollback | None) -> Rollback:
        """Starts a rollback; what an earlier one of the same run has compensated stays so."""
        done, failed = (list(before.done), list(before.failed)) if before else ([], [])
        return Rollback(event.cause, event.error, event.reason, event.data, done, failed, event.only)

    def evolve(self, event: RollbackStep) -> None:
        self.asking = event.at if event.status == "asked" else None
        if event.at in self.failed:
            self.failed.remove(event.at)
        if event.status == "failed":
            self.failed.append(event.at)
        elif event.status in ("completed", "discarded"):
            self.done.append(event.at)

    def next(self, compensations: list[Task]) -> Task | None:
        """The newest compensator that has not run."""
        settled = {*self.done, *self.failed}
        wanted = (task for task in reversed(compensations) if not self.only or task.token in self.only)
        return next((task for task in wanted if task.token not in settled), None)

    def outcome(self, before: FinalEvent | None) -> FinalEvent:
        """How the run ends: as it would have without compensation."""
        if self.cause == "cancel":
            return RunCancelled(self.reason)
        if self.error is not None:
            return RunFailed(self.error, self.data)
        if before is None:
            raise RuntimeError("a rollback on request needs a run that has ended")
        return before
