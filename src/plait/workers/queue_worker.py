"""A queue worker: claims tasks, runs them with its executors, and reports.

It is the local worker with another source of tasks. Each claim is an attempt with its own token, so that two claims of
one task never interfere. While tasks are in flight their leases are renewed together; when the source is unavailable it
is retried, and results wait until they can be reported.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

import msgspec
from msgspec import Raw

from plait.api.task import QueueTask, TaskReport
from plait.clusters.clusters import Clusters
from plait.kernel import values
from plait.kernel.clock import Clock, sleep
from plait.kernel.errors import Busy, PlaitError, Unavailable
from plait.kernel.ids import RunId, TaskToken, run_key
from plait.kernel.inputs import KeepEntry, Suspend, TaskResult
from plait.kernel.retry import Retry
from plait.kernel.task import Attempt, Executor, Policy, Task
from plait.kernel.task_inputs import AGENT, AgentInput, PythonInput

from .local import LocalWorker
from .task_source import TaskSource
from .worker_beats import WorkerBeats
from .worker_lines import WorkerLines
from .worker_memo import WorkerMemo
from .worker_reports import FIRST_PAUSE, LONGEST_PAUSE, WorkerReports, passes, report_of, split

log = logging.getLogger("plait.worker")

_WAIT_MS = 20_000
"""Milliseconds that one claim waits for a task."""
_ANSWERED_WITHIN = 0.5
"""Seconds within which a claim is answered if there is a task for it."""
_agent_input = msgspec.json.Decoder(AgentInput)


class NamedExecutor(Executor, Protocol):
    """An executor that calls functions by name, which a worker can offer."""

    @property
    def handlers(self) -> Collection[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    name: str
    queues: Sequence[str]
    namespace: str
    concurrency: int = 10
    lease: float = 30.0
    """Seconds without a heartbeat after which its tasks are given to others."""
    drain: float = 30.0
    """Seconds that tasks in flight have after a stop; then they are released."""


class QueueWorker:
    def __init__(
        self,
        source: TaskSource,
        executors: Iterable[Executor],
        clock: Clock,
        settings: WorkerSettings,
        clusters: Clusters | None = None,
    ) -> None:
        self._source = source
        self._clock = clock
        self._settings = settings
        named = [executor for executor in executors if _is_named(executor)]
        self.handlers = sorted({name for executor in named for name in executor.handlers})
        self._kinds = [kind for executor in named for kind in executor.kinds]
        # As many threads as tasks at a time: waiting for a thread would use up a task's time on the server
        self._local = LocalWorker(clock, threads=settings.concurrency, executors=named, clusters=clusters)
        self._held: dict[str, QueueTask] = {}
        self._lines = WorkerLines(source, clock, settings.namespace)
        self._reports = WorkerReports(source, clock, settings.namespace, self._label)
        self._beats = WorkerBeats(source, clock, settings.lease, settings.namespace, self._progress, self._unwanted)
        self._memo = WorkerMemo()
        self._results: list[TaskReport] = []
        self._suspending: list[Suspend] = []
        self._ready = asyncio.Event()
        self._freed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._asked_at: float | None = None
        """When the claim in flight began."""
        self._unbegun: list[QueueTask] = []
        """Tasks that arrived during a stop."""

    @property
    def is_stuck(self) -> bool:
        """Whether abandoned plain functions still run: at exit, Python would wait for their threads."""
        return bool(self._local.in_threads)

    def stop(self) -> None:
        """Takes no more tasks, and ends when those in flight are done or released."""
        self._stopping.set()

    async def run(self) -> None:
        """Runs until stopped. Raises permanent errors: a rejected key, a queue that is not its own."""
        beating = asyncio.ensure_future(self._beats.send_all(self._held.values))
        saying = asyncio.ensure_future(self._lines.send_all())
        reporting = asyncio.ensure_future(self._report_all())
        claiming = asyncio.ensure_future(self._claim_all())
        stopped = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait((claiming, beating, reporting, stopped), return_when=asyncio.FIRST_COMPLETED)
            await self._end_claiming(claiming)
            await self._drain(reporting)
            for each in (claiming, beating, reporting):
                if each.done() and not each.cancelled():
                    each.result()
        finally:
            for each in (claiming, beating, saying, reporting, stopped):
                each.cancel()
            await self._local.close()

    # -- claiming ------------------------------------------------------------------------------------------------

    async def _claim_all(self) -> None:
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            self._freed.clear()
            free = self._settings.concurrency - len(self._held)
            if not free:
                await self._freed.wait()
                continue
            try:
                tasks = await self._claim(free)
                pause = FIRST_PAUSE
            except PlaitError as error:
                if not passes(error):
                    raise
                log.warning("can't get tasks for now, will try again in %.1f s: %s", pause, error)
                await sleep(self._clock, pause)
                pause = min(pause * 2, LONGEST_PAUSE)
                continue
            if self._stopping.is_set():
                self._unbegun = tasks
                return
            for task in tasks:
                self._begin(task)

    async def _end_claiming(self, claiming: asyncio.Future[None]) -> None:
        """Ends the claim in flight. One that has just begun is about to be answered, if there are tasks: if cancelled,
        they would be stuck until their lease expires. One that has waited for a while has found none."""
        if self._asked_at is not None:
            left = self._asked_at + _ANSWERED_WITHIN - self._clock.monotonic()
            await asyncio.wait({claiming}, timeout=max(left, 0))
        claiming.cancel()
        await asyncio.gather(claiming, return_exceptions=True)
        await self._give_back(self._unbegun)

    async def _claim(self, limit: int) -> list[QueueTask]:
        settings = self._settings
        self._asked_at = self._clock.monotonic()
        try:
            return await self._source.claim(
                settings.name,
                settings.queues,
                namespace=settings.namespace,
                limit=limit,
                lease_ms=round(settings.lease * 1000),
                wait_ms=_WAIT_MS,
                kinds=self._kinds,
                handlers=self.handlers,
            )
        finally:
            self._asked_at = None

    def _begin(self, claimed: QueueTask) -> None:
        self._held[claimed.id] = claimed
        self._beats.begin(claimed)
        call = _input(claimed)
        if (known := self._memo.known(claimed.id, call)) is not None:
            self._note(TaskReport(id=claimed.id, output=known, memo=True))
            return
        run_id = run_key(claimed.namespace, claimed.run_id)
        task = Task(
            TaskToken(claimed.id),
            claimed.label,
            claimed.kind,
            call,
            _policy(claimed),
            claimed.key,
            claimed.node,
        )
        progress = Raw(values.plain(claimed.progress))
        attempt = Attempt(run_id, task, claimed.attempt, progress, self._ended, self._lines.note, self._keep)
        attempt.journal = tuple(Raw(values.plain(each)) for each in claimed.journal)
        attempt.error = None if claimed.last_error is None else claimed.last_error.info()
        self._local.start(attempt)

    async def _keep(self, attempt: Attempt, entry: KeepEntry) -> None:
        """Adds a journal entry, and retries while the source is unavailable: repeating an entry has no effect."""
        pause = FIRST_PAUSE
        while True:
            try:
                await self._source.keep(
                    attempt.task.token,
                    entry.index,
                    values.decode(entry.entry),
                    says=entry.says,
                    events=values.decode(Raw(values.plain(entry.events))),
                    namespace=self._settings.namespace,
                )
                return
            except (Unavailable, Busy) as error:
                log.warning("an entry of %s can't be kept for now: %s", attempt.task.label, error)
                await sleep(self._clock, pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    # -- reporting -----------------------------------------------------------------------------------------------

    def _ended(self, run_id: RunId, result: TaskResult | Suspend) -> None:
        if isinstance(result, Suspend):
            self._suspending.append(result)
            self._ready.set()
            return
        if result.error is None:
            self._memo.keep(result.token, result.output)
        self._note(report_of(result))

    def _note(self, report: TaskReport) -> None:
        self._results.append(report)
        self._ready.set()

    async def _report_all(self) -> None:
        """Reports finished tasks in batches, retrying as often as needed."""
        while True:
            await self._ready.wait()
            await self._suspend_all()
            batch, self._results = split(self._results)
            if not self._results:
                self._ready.clear()
            await self._lines.send([report.id for report in batch])  # while their claims are valid
            if batch:
                await self._reports.insist(batch)
            for report in batch:
                self._forget(report.id)

    async def _suspend_all(self) -> None:
        while self._suspending:
            wanted = self._suspending[0]
            try:
                wait = values.decode(Raw(values.plain(wanted.wait)))
                await self._source.suspend(wanted.token, wait, says=wanted.says, namespace=self._settings.namespace)
            except (Unavailable, Busy) as error:
                log.warning("an attempt can't be suspended for now: %s", error)
                await sleep(self._clock, FIRST_PAUSE)
                continue
            except PlaitError as error:
                log.warning("an attempt could not be suspended: %s", error)
            self._suspending.pop(0)
            self._forget(wanted.token)

    def _forget(self, id: str) -> None:
        self._held.pop(id, None)
        self._beats.end(id)
        self._lines.forget(id)
        self._memo.forget(id)
        self._freed.set()

    # -- staying alive -------------------------------------------------------------------------------------------

    def _label(self, id: str) -> str:
        held = self._held.get(id)
        return "a task" if held is None else held.label

    def _progress(self, task: QueueTask) -> Raw | None:
        return self._local.progress(run_key(task.namespace, task.run_id), TaskToken(task.id))

    def _unwanted(self, task: QueueTask) -> None:
        if task.id in self._held:
            log.warning("%s is not wanted any more", task.label)
            self._drop(task)

    def _drop(self, task: QueueTask) -> None:
        self._local.cancel(run_key(task.namespace, task.run_id), TaskToken(task.id))
        self._forget(task.id)

    async def _drain(self, reporting: asyncio.Future[None]) -> None:
        """Waits for tasks in flight, and releases those that don't end in time; at once if nothing can be reported."""
        until = self._clock.monotonic() + self._settings.drain
        reporting.add_done_callback(lambda _: self._freed.set())
        while self._held and not reporting.done() and (left := until - self._clock.monotonic()) > 0:
            self._freed.clear()
            alarm = self._clock.call_later(left, self._freed.set)
            await self._freed.wait()
            alarm.cancel()
        left_over = list(self._held.values())
        for task in left_over:
            self._drop(task)
        await self._give_back(left_over)

    async def _give_back(self, tasks: Sequence[QueueTask]) -> None:
        for task in tasks:
            try:
                await self._source.release(task.id, namespace=self._settings.namespace)
            except PlaitError as error:
                log.warning("%s could not be given back: %s", task.label, error)


def _is_named(executor: Executor) -> TypeGuard[NamedExecutor]:
    return hasattr(executor, "handlers")


def _input(claimed: QueueTask) -> PythonInput | AgentInput:
    given = claimed.input
    if claimed.kind == AGENT:
        return _agent_input.decode(values.plain(given))
    arguments = Raw(values.plain(given.get("arguments", {})))
    discard, memo = given.get("discard", False), given.get("memo", "")
    return PythonInput(given["handler"], arguments, discard=discard, memo=memo)


def _policy(task: QueueTask) -> Policy:
    never = tuple(found for name in task.never if (found := _error_type(name)) is not None)
    retry = Retry(max_attempts=1, never=never)
    return Policy(retry, _seconds(task.timeout_ms), task.retry_on_timeout, _seconds(task.heartbeat_ms))


def _seconds(millis: int | None) -> float | None:
    return None if millis is None else millis / 1000


def _error_type(name: str) -> type[BaseException] | None:
    module, _, qualname = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in qualname.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
