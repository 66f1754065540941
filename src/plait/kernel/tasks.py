"""The open tasks of one run: which attempt each is in, and what a result means for it.

Attempts are decided here, once for all dialects: whether a result counts or is late, whether a
failure is tried again and when, whether it was the last. Machines only ever see final results.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from .errors import ErrorInfo
from .events import TaskRetryScheduled
from .ids import Ids, Millis, TaskToken
from .inputs import TaskResult
from .machine import TaskFacts
from .task import Task
from .values import NULL


class OpenTask(msgspec.Struct, gc=False):
    task: Task
    attempt: int = 1
    retry_at: Millis | None = None
    error: ErrorInfo | None = None
    progress: Raw = NULL


class Late(msgspec.Struct, frozen=True, gc=False):
    """Of an older attempt, or of a task that is settled: recorded, changes nothing."""


class Again(msgspec.Struct, frozen=True, gc=False):
    event: TaskRetryScheduled


class Final(msgspec.Struct, frozen=True, gc=False):
    result: TaskResult
    task: Task
    exhausted: bool


class TaskBook:
    def __init__(self) -> None:
        self._open: dict[TaskToken, OpenTask] = {}
        self._history: dict[TaskToken, TaskRetryScheduled] = {}
        """The last failed attempt of tasks that are not open here yet: the log knows attempts before
        the machine has said which tasks are pending."""
        self.running = 0
        """How many are under way in this process now, not waiting for a retry."""

    def __contains__(self, token: TaskToken) -> bool:
        return token in self._open

    def __iter__(self) -> Iterator[TaskToken]:
        return iter(self._open)

    def open(self, task: Task, now: Millis, *, gated: bool = False) -> OpenTask | None:
        """Takes a task up; None when nothing is to be started now: it waits for a retry, or is open. `gated`:
        one that is due waits too, until its machine lets it begin."""
        token = task.token
        if token in self._open:
            return None
        past = self._history.pop(token, None) if self._history else None
        if past is None:
            opened = self._open[token] = OpenTask(task)
        else:
            due = past.due if past.due > now or gated else None
            opened = self._open[token] = OpenTask(task, past.attempt + 1, due, past.error, past.progress)
            if due is not None:
                return None
        self.running += 1
        return opened

    def take_back(self, task: Task, attempt: int) -> None:
        """A task that was closed is open again, in the attempt it was in."""
        self._open[task.token] = OpenTask(task, attempt)
        self.running += 1

    def is_in(self, token: TaskToken, attempt: int) -> bool:
        """Whether that attempt is under way."""
        found = self._open.get(token)
        return found is not None and found.attempt == attempt and found.retry_at is None

    def close(self, token: TaskToken) -> bool:
        """Forgets a task; True if it was open."""
        self._history.pop(token, None)
        found = self._open.pop(token, None)
        if found is not None and found.retry_at is None:
            self.running -= 1
        return found is not None

    def forget_past(self) -> None:
        """Attempts of tasks that are settled: how a task ended is the dialect's event, which the book does not see."""
        self._history.clear()

    def judge(self, result: TaskResult, now: Millis, ids: Ids) -> Late | Again | Final:
        """What a result means for its task; a final one closes it."""
        found = self._open.get(result.token)
        if found is None or found.attempt != result.attempt or found.retry_at is not None:
            return Late()
        policy = found.task.policy.retry
        if result.error is not None and result.retryable and found.attempt < policy.max_attempts:
            wait = policy.delay(found.attempt, ids.fraction() if policy.jitter else 0.0)
            due = Millis(now + round(wait * 1000))
            scheduled = TaskRetryScheduled(
                result.token, found.attempt, due, result.error, result.progress, policy.max_attempts, result.queued
            )
            return Again(scheduled)
        del self._open[result.token]
        self.running -= 1
        exhausted = result.error is not None and result.retryable
        return Final(result, found.task, exhausted)

    def evolve(self, event: TaskRetryScheduled) -> None:
        found = self._open.get(event.token)
        if found is None:
            self._history[event.token] = event
            return
        if found.retry_at is None:
            self.running -= 1
        found.attempt, found.retry_at = event.attempt + 1, event.due
        found.error, found.progress = event.error, event.progress

    def retry(self, token: TaskToken) -> OpenTask | None:
        """The time for another attempt has come."""
        found = self._open.get(token)
        if found is None or found.retry_at is None:
            return None
        found.retry_at = None
        self.running += 1
        return found

    def get(self, token: TaskToken) -> OpenTask | None:
        return self._open.get(token)

    def facts(self) -> dict[TaskToken, TaskFacts]:
        waiting = {
            token: TaskFacts(past.attempt + 1, past.max_attempts, running=False, retry_at=past.due, error=past.error)
            for token, past in self._history.items()
        }
        return waiting | {
            token: TaskFacts(
                attempt=task.attempt,
                max_attempts=task.task.policy.retry.max_attempts,
                running=task.retry_at is None,
                retry_at=task.retry_at,
                error=task.error,
            )
            for token, task in self._open.items()
        }

    def dump(self) -> list[TaskRetryScheduled]:
        """For a snapshot: the attempts of tasks that have failed so far."""
        waiting = [
            TaskRetryScheduled(
                token, t.attempt - 1, t.retry_at or Millis(0), t.error, t.progress, t.task.policy.retry.max_attempts
            )
            for token, t in self._open.items()
            if t.error is not None
        ]
        return [*self._history.values(), *waiting]
