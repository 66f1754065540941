"""After a commit: starts the effects and notifies waiting callers. Also handles refused commits."""

from __future__ import annotations

import logging

from .admitter import Admitter
from .background import Background
from .callers import Callers, outcome_of
from .delivery import Delivery
from .errors import LeaseLost, PlaitError, Unavailable
from .ids import RunId
from .inbox import Inbox
from .inputs import Continue, Loaded, Suspend, TaskResult
from .journal_waiters import JournalWaiters
from .leases import Leases
from .observer import Observers
from .ownership import Ownership
from .pools import HOME
from .quarantine import Quarantine
from .queue_watch import QueueWatch
from .ready_queue import ReadyQueue
from .run import Run
from .run_cache import RunCache
from .store import Verdict, Write
from .subscriptions import Subscriptions
from .task import Attempt, Worker
from .task_logs import TaskLogs
from .timers import Timers
from .unit_of_work import UnitOfWork

log = logging.getLogger("plait.kernel")


class Dispatcher:
    def __init__(
        self,
        *,
        worker: Worker,
        queue: ReadyQueue,
        run_cache: RunCache,
        delivery: Delivery,
        inbox: Inbox,
        timers: Timers,
        callers: Callers,
        subscriptions: Subscriptions,
        task_logs: TaskLogs,
        journals: JournalWaiters,
        leases: Leases,
        ownership: Ownership,
        quarantine: Quarantine,
        queue_watch: QueueWatch,
        admitter: Admitter,
        background: Background,
        observers: Observers,
    ) -> None:
        self._worker = worker
        self._queue = queue
        self._run_cache = run_cache
        self._live = run_cache.live
        self._delivery = delivery
        self._inbox = inbox
        self._timers = timers
        self._callers = callers
        self._subscriptions = subscriptions
        self._leases = leases
        self._ownership = ownership
        self._quarantine = quarantine
        self._queue_watch = queue_watch
        self._admitter = admitter
        self._background = background
        self._observers = observers
        self._journals = journals
        # Every attempt gets these: looked up once
        self._report, self._note_line, self._keep = self.report, task_logs.note, journals.keep

    # -- when a write is on disk ---------------------------------------------------------------------------------

    def committed(self, run: Run, unit: UnitOfWork) -> None:
        write = unit.write
        if write.create is not None:
            self._callers.starts.came(run.id, "ok")
        if not write.plain:
            self._note_rows(write)
        if self._subscriptions.any:
            self._subscriptions.committed(write, run.info)
        if self._observers.any and unit.events:
            self._observers.committed(run.info, unit.events, unit.at)
        if unit.kept is not None:
            self._journals.came(run.id, unit.kept)
        if (unit.ended or run.blocked is not None) and run.id in self._callers.outcomes.waiting:
            self._callers.outcomes.notify(run.id, outcome_of(run))
        if unit.ended and run.state.queueing is not None and run.state.queueing.queue:
            self._admitter.ring(run.info.namespace)
        if self._live.get(run.id) is not run:
            return  # its shard was lost: the new owner continues
        if write.pool is not None:
            self._delivery.drop(run)
            self._callers.outcomes.notify(run.id, None)
            return
        if unit.revoked is not None:
            for token in unit.revoked:
                self._worker.cancel(run.id, token)
        for opened in unit.tasks:
            attempt = Attempt(
                run.id, opened.task, opened.attempt, opened.progress, self._report, self._note_line, self._keep
            )
            if opened.journal is not None:
                attempt.journal = tuple(opened.journal.entries)
            if opened.error is not None:
                attempt.error = opened.error
            self._worker.start(attempt)
        if unit.more:
            self._queue.post(run, Continue())
        if not (run.mailbox or run.state.tasks.running):
            self._run_cache.park(run)

    def report(self, run_id: RunId, result: TaskResult | Suspend) -> None:
        """The worker reports the end of an attempt."""
        run = self._live.get(run_id)
        if run is not None:
            self._queue.post(run, result)

    def _note_rows(self, write: Write) -> None:
        run_id = write.run_id
        for taken in write.taken:
            self._inbox.taken(run_id, taken.key)
            self._callers.replies.came(run_id, taken)
        for token in write.cleared:
            self._timers.fired(run_id, token)
        for timer in write.timers:
            self._timers.note(timer.due)
        for child in write.children:
            if child.queueing is not None:
                self._admitter.ring(child.row.namespace)
            elif self._leases.owns(child.row.id):
                self._inbox.came(child.start)
        if write.children:  # a child's id may have been taken: then its parent has a refusal instead
            self._inbox.look_soon()
        for row in write.inbox:
            if row.fallback is not None or row.withdraws or self._leases.mixed:
                # It may be a dead letter, for a queued run whose start comes first, or for a run in a pool
                self._inbox.look_soon()
            elif self._leases.owns(row.run_id):
                self._inbox.came(row)
        if write.queued:
            self._queue_watch.queued()

    def appended(self, write: Write) -> None:
        """A write from outside any run was committed."""
        if self._subscriptions.any:
            self._subscriptions.committed(write)
        if write.pool is not None:
            self._delivery.moved(write.run_id)
            if write.pool == HOME:
                self._inbox.look_soon()  # this engine may own it there
        elif write.epoch is not None:  # of a run in quarantine
            self._note_rows(write)
            self._callers.outcomes.notify(write.run_id, None)
            self._quarantine.written(write.run_id)
        elif write.inbox and (self._leases.mixed or self._leases.owns(write.run_id)):
            self._inbox.look_soon()
        if write.place is not None:
            self._admitter.ring(write.place.namespace)

    # -- when a commit is refused --------------------------------------------------------------------------------

    def refused(self, run: Run, unit: UnitOfWork, verdict: Verdict) -> None:
        self._delivery.drop(run)
        self._stop_revoked(run, unit)
        if verdict == "fenced":
            self._ownership.forget(run.shard, run.epoch)
            self._callers.starts.failed(run.id, LeaseLost())
            return
        if unit.write.create is None:
            log.warning("the log of run %s has moved on; reading it again", run.id)
            self._look_again(run.id)
        elif run.read_meanwhile:  # keep the other run that has this id
            self._look_again(run.id)
        else:  # the inputs received since then are for the run that has this id
            self._inbox.look_soon()
            self._timers.look_soon()
        self._callers.starts.came(run.id, verdict)

    def _stop_revoked(self, run: Run, unit: UnitOfWork) -> None:
        """Stops tasks that the refused unit of work revoked: they start again from the log, here or elsewhere."""
        if run.id not in self._run_cache.live:
            for token in unit.revoked or ():
                self._worker.cancel(run.id, token)

    def failed(self, run: Run, error: PlaitError) -> None:
        self._delivery.drop(run)
        if isinstance(error, Unavailable):
            self._look_again(run.id)
        self._callers.starts.failed(run.id, error)

    def broken(self, run: Run, error: Exception) -> None:
        """The machine raised; nothing of the round is kept. A start fails; any other run is blocked until a new input
        arrives."""
        unborn = PlaitError("kernel.machine_error", "the run can't be started", why=str(error))
        if self._callers.starts.failed(run.id, unborn):
            self._delivery.drop(run)
            return
        self._quarantine.add(run.id, run.broken(error))
        self._delivery.stop(run)

    def abandon(self, error: PlaitError) -> None:
        self._callers.abandon(error)

    def _look_again(self, run_id: RunId) -> None:
        """A write may be on disk although its answer was lost: read everything it may have contained."""
        self._delivery.deliver(run_id, Loaded("wake"), None)
        self._callers.outcomes.notify(run_id, None)
        self._background.keep_trying(self._callers.replies.look)
        self._inbox.look_soon()
        self._timers.look_soon()
        self._queue_watch.queued()
        self._admitter.ring()
