"""The open tasks of one run: the current attempt of each, and what a result means for it.

Attempts are decided here, once for all dialects: whether a result counts or is late, whether a failure is retried and
when, whether it was the last. Machines only ever see final results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Raw

from .errors import ErrorInfo
from .events import TaskJournaled, TaskRetryScheduled, TaskSuspended
from .ids import Ids, Millis, TaskToken
from .inputs import TaskResult
from .journal import Journal
from .machine import TaskFacts
from .task import HasQueueForm, Task
from .values import NULL


class OpenTask(msgspec.Struct, gc=False):
    task: Task
    attempt: int = 1
    retry_at: Millis | None = None
    error: ErrorInfo | None = None
    progress: Raw = NULL
    opening: int = 0
    """Number of its row on a queue: see `queued`."""
    lost: int = 0
    """Attempts lost with their workers: not counted as tries."""
    accepted: bool = False
    """It was accepted elsewhere, and is reported when done."""
    journal: Journal | None = None

    @property
    def here(self) -> bool:
        """In flight in this process."""
        return self.retry_at is None and self.task.queue is None and not self.accepted and not self.suspended

    @property
    def suspended(self) -> bool:
        return self.journal is not None and self.journal.wait is not None


class Opening(msgspec.Struct, frozen=True, gc=False):
    """A queued attempt as recorded in the log."""

    token: TaskToken
    opening: int
    attempt: int
    lost: int = 0
    queue: str = ""


class Late(msgspec.Struct, frozen=True, gc=False):
    """A result of an older attempt, or of a settled task: recorded without effect."""


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
        """The last failed attempt of tasks that are not open here yet: the log knows attempts before the machine says
        which tasks are pending."""
        self._openings: dict[TaskToken, Opening] = {}
        """Rows of tasks that are not open here yet."""
        self._journals: dict[TaskToken, Journal] = {}
        """Journals of tasks that are not open here yet."""
        self.abandoned: list[Journal] = []
        """Journals of tasks closed while suspended: what they wait for is no longer needed."""
        self.rejections: dict[TaskToken, int] = {}
        """How often a task's envelope or result was rejected."""
        self.queues: Mapping[str, str] = {}
        """Queues by kind of task, for tasks that name none."""
        self.running = 0
        """How many are in flight in this process: not on a queue, and not waiting for a retry."""

    def __contains__(self, token: TaskToken) -> bool:
        return token in self._open

    def __iter__(self) -> Iterator[TaskToken]:
        return iter(self._open)

    def __len__(self) -> int:
        return len(self._open)

    def open(self, task: Task, now: Millis, gated: bool = False) -> OpenTask | None:
        """Opens a task; None if nothing is to be started now, because it waits for a retry or is open already. `gated`:
        a task that is due also waits, until its machine allows it."""
        token = task.token
        if token in self._open:
            return None
        if task.queue is None and (self.queues or self._openings):
            task = self._placed(task)
        if task.queue is not None:
            return self._open_queued(task, now, gated=gated)
        past = self._history.pop(token, None) if self._history else None
        if self._journals and (journal := self._journals.pop(token, None)) is not None:
            return self._open_journaled(task, journal, past)
        if past is None:
            opened = self._open[token] = OpenTask(task)
        else:
            due = past.due if past.due > now or gated else None
            opened = self._open[token] = OpenTask(task, past.attempt + 1, due, past.error, past.progress)
            if due is not None:
                return None
        self.running += 1
        return opened

    def _placed(self, task: Task) -> Task:
        """The task with the queue of its kind. One that is on a queue stays there, whatever the setting is by now, in
        the same form: its next attempts are enqueued, too."""
        opening = self._openings.get(task.token)
        queue = opening.queue if opening is not None else self.queues.get(task.kind)
        if not queue:
            return task
        input, code = task.input.on_queue() if isinstance(task.input, HasQueueForm) else (task.input, task.code)
        return msgspec.structs.replace(task, queue=queue, input=input, code=code)

    def _open_journaled(self, task: Task, journal: Journal, past: TaskRetryScheduled | None) -> OpenTask | None:
        """Continues an attempt that was in flight, unless it is suspended."""
        opened = self._open[task.token] = OpenTask(task, journal.attempt, journal=journal)
        if past is not None:
            opened.error, opened.progress = past.error, past.progress
        self.running += opened.here
        return None if opened.suspended else opened

    def _open_queued(self, task: Task, now: Millis, *, gated: bool) -> OpenTask | None:
        """Like `open`. A task whose row is written is in flight, whoever has claimed it."""
        past = self._history.pop(task.token, None)
        opening = self._openings.pop(task.token, None)
        found = self._open[task.token] = OpenTask(task)
        found.journal = self._journals.pop(task.token, None)
        if past is not None:
            found.attempt, found.error, found.progress = past.attempt + 1, past.error, past.progress
        if opening is not None:
            found.lost = opening.lost
        if found.journal is not None and found.suspended:
            found.attempt = found.journal.attempt
            return None
        if opening is not None and (past is None or opening.attempt > past.attempt):
            found.attempt, found.opening = opening.attempt, opening.opening
            return None
        if past is not None and (past.due > now or gated):
            found.retry_at = past.due
            return None
        return found

    def queued(self, opening: Opening) -> None:
        """Records that an attempt is on a queue."""
        found = self._open.get(opening.token)
        if found is None:
            self._openings[opening.token] = opening
        else:
            found.attempt, found.opening = opening.attempt, opening.opening
            found.lost, found.retry_at = opening.lost, None

    def is_queued(self, token: TaskToken) -> bool:
        """Whether it may have a row."""
        found = self._open.get(token)
        return token in self._openings if found is None else bool(found.opening)

    @property
    def unopened(self) -> list[TaskToken]:
        """Tasks that may have rows according to the log, and are not open here."""
        return list(self._openings)

    def openings(self) -> list[Opening]:
        """Queued attempts, for a snapshot."""
        found = [
            Opening(token, t.opening, t.attempt if t.opening else t.attempt - 1, t.lost, t.task.queue or "")
            for token, t in self._open.items()
            if t.opening or t.lost
        ]
        return [*self._openings.values(), *found]

    def is_due(self, token: TaskToken, now: Millis) -> bool:
        """Whether its retry is due and only waits for its machine to allow it."""
        found = self._open.get(token)
        return found is not None and found.retry_at is not None and found.retry_at <= now

    def enqueue_again(self) -> None:
        """Forgets all rows in a fork, because they belong to the other run."""
        self._openings.clear()
        for token in [token for token, task in self._open.items() if task.opening]:
            if (journal := self._open.pop(token).journal) is not None:
                self._journals[token] = journal

    def take_back(self, task: Task, attempt: int) -> None:
        """Opens a closed task again, in the attempt it was in."""
        task = task if task.queue is not None else self._placed(task)
        self._open[task.token] = OpenTask(task, attempt)
        self.running += task.queue is None

    def await_result(self, task: Task, attempt: int) -> None:
        """An attempt that was accepted elsewhere is in flight; nothing is started."""
        if task.token not in self._open:
            past = self._history.pop(task.token, None)
            error = None if past is None else past.error
            self._open[task.token] = OpenTask(task, attempt, error=error, accepted=True)

    def is_in(self, token: TaskToken, attempt: int, opening: int = 0) -> bool:
        """Whether that attempt is in flight."""
        found = self._open.get(token)
        if found is None:
            row = self._openings.get(token)
            return row is not None and row.opening == opening
        here = found.attempt == attempt and found.opening == opening and found.retry_at is None
        return here and not found.suspended

    def close(self, token: TaskToken) -> bool:
        """Forgets a task; True if it was open."""
        self.rejections.pop(token, None)
        self._history.pop(token, None)
        row = self._openings.pop(token, None)
        found = self._open.pop(token, None)
        journal = found.journal if found is not None else self._journals.pop(token, None)
        if journal is not None and journal.wait is not None:
            self.abandoned.append(journal)
        if found is None:
            return row is not None
        self.running -= found.here
        return True

    def forget_past(self) -> None:
        """Forgets attempts of settled tasks: how a task ended is the dialect's event, which this class does not see."""
        self._history.clear()
        self._openings.clear()
        self._journals.clear()

    def completes(self, result: TaskResult) -> bool:
        """Whether a result without an error belongs to the attempt in flight; if so, closes its task."""
        token = result.token
        found = self._open.get(token)
        if (
            found is None
            or found.attempt != result.attempt
            or found.opening != result.opening
            or found.retry_at is not None
            or (found.journal is not None and found.suspended)
        ):
            return False
        del self._open[token]
        if not found.accepted and found.task.queue is None:
            self.running -= 1
        return True

    def judge(self, result: TaskResult, now: Millis, ids: Ids) -> Late | Again | Final:
        """What a result means for its task; a final one closes it."""
        found = self._open.get(result.token)
        if found is None or not self.is_in(result.token, result.attempt, result.opening):
            return Late()
        policy = found.task.policy.retry
        tries = found.attempt - found.lost
        if result.error is not None and result.retryable and tries < policy.max_attempts:
            wait = policy.delay(tries, ids.fraction() if policy.jitter else 0.0)
            due = Millis(now + round(wait * 1000))
            scheduled = TaskRetryScheduled(
                result.token, found.attempt, due, result.error, result.progress, policy.max_attempts, result.queued
            )
            return Again(scheduled)
        self.close(result.token)
        exhausted = result.error is not None and result.retryable
        return Final(result, found.task, exhausted)

    def evolve(self, event: TaskRetryScheduled) -> None:
        found = self._open.get(event.token)
        if found is None:
            self._journals.pop(event.token, None)
            self._history[event.token] = event
            return
        self.running -= found.here
        found.attempt, found.retry_at, found.opening, found.accepted = event.attempt + 1, event.due, 0, False
        found.error, found.progress, found.journal = event.error, event.progress, None

    def journaled(self, event: TaskJournaled) -> None:
        """Adds a journal entry; a suspended attempt is in flight again."""
        found, journal = self._open.get(event.token), self._journal(event.token, event.attempt, event.index)
        resumed = journal.wait is not None
        journal.add(event.entry, event.says)
        if found is not None and resumed:
            self.running += found.here

    def suspended(self, event: TaskSuspended) -> None:
        found, journal = self._open.get(event.token), self.journal(event.token)
        if found is not None:
            self.running -= found.here
            found.opening = 0
        elif (row := self._openings.get(event.token)) is not None:
            self._openings[event.token] = msgspec.structs.replace(row, opening=0)
        if journal is None:
            journal = self._journal(event.token, event.attempt, 0)
        journal.attempt, journal.wait, journal.says = event.attempt, event.wait, event.says

    def journal(self, token: TaskToken) -> Journal | None:
        found = self._open.get(token)
        return self._journals.get(token) if found is None else found.journal

    def _journal(self, token: TaskToken, attempt: int, index: int) -> Journal:
        """The journal to add to. Index 0 on a journal with entries means that the task was opened again: it starts
        anew."""
        journal = self.journal(token)
        if journal is None or (not index and journal.entries):
            journal = Journal(token, attempt, [])
        journal.attempt = attempt
        if (found := self._open.get(token)) is not None:
            found.journal = journal
        else:
            self._journals[token] = journal
        return journal

    def journals(self) -> list[Journal]:
        """Journals, for a snapshot."""
        found = [task.journal for task in self._open.values() if task.journal is not None]
        return [
            msgspec.structs.replace(each, entries=list(each.entries)) for each in (*self._journals.values(), *found)
        ]

    def last_error(self, token: TaskToken) -> ErrorInfo | None:
        """Why the attempt before the current one failed."""
        found = self._open.get(token)
        past = self._history.get(token) if found is None else found
        return None if past is None else past.error

    def told(self) -> dict[str, Journal]:
        """Journals of open tasks, by the nodes of the view that they belong to."""
        found: dict[str, Journal] = {}
        for token, task in self._open.items():
            if task.journal is not None:
                found[token] = found[task.task.node or token] = task.journal
        return found

    def restore_journal(self, journal: Journal) -> None:
        self._journals[journal.token] = journal

    def retry(self, token: TaskToken) -> OpenTask | None:
        """The time for the next attempt has come."""
        found = self._open.get(token)
        if found is None or found.retry_at is None:
            return None
        found.retry_at = None
        self.running += found.task.queue is None
        return found

    def waiting(self) -> list[TaskToken]:
        """Tasks that wait for a retry, or are suspended."""
        if not self._open:
            return []
        return [token for token, task in self._open.items() if task.retry_at is not None or task.suspended]

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
                max_attempts=task.task.policy.retry.max_attempts + task.lost,
                running=task.retry_at is None,
                retry_at=task.retry_at,
                error=task.error,
                journal=task.journal,
            )
            for token, task in self._open.items()
        }

    def dump(self) -> list[TaskRetryScheduled]:
        """Failed attempts of open tasks, for a snapshot."""
        waiting = [
            TaskRetryScheduled(
                token, t.attempt - 1, t.retry_at or Millis(0), t.error, t.progress, t.task.policy.retry.max_attempts
            )
            for token, t in self._open.items()
            if t.error is not None
        ]
        return [*self._history.values(), *waiting]
