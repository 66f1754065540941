"""A worker on queues: claims tasks, does them with the executors it has, and reports.

It is the local worker with another source of tasks. Each claim is an attempt with a token of its own, so that two
claims of one task never get into each other's way. While tasks are under way their leases are renewed together; when
the source is away it is asked again, and results wait until they can be reported.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

import msgspec
from msgspec import UNSET, Raw

from plait.api.task import QueueTask, TaskFailure, TaskReport
from plait.clusters.clusters import Clusters
from plait.kernel import values
from plait.kernel.clock import Clock, sleep
from plait.kernel.errors import Busy, Conflict, InvalidInput, NotFound, PlaitError, TooLarge, Unavailable
from plait.kernel.failures import describe
from plait.kernel.ids import RunId, TaskToken, run_key
from plait.kernel.inputs import KeepEntry, Suspend, TaskResult
from plait.kernel.retry import Retry
from plait.kernel.task import Attempt, Executor, Policy, Task
from plait.kernel.task_inputs import AGENT, AgentInput, PythonInput

from .local import LocalWorker
from .task_source import TaskSource
from .worker_lines import WorkerLines
from .worker_memo import WorkerMemo

log = logging.getLogger("plait.worker")

_WAIT_MS = 20_000
"""Of one claim, for a task to come."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
_BATCH, _BATCH_BYTES = 500, 1024 * 1024
"""Results in one report."""
_agent_input = msgspec.json.Decoder(AgentInput)
_BEATS = 3
"""In the time of one lease: two may get lost."""


class NamedExecutor(Executor, Protocol):
    """Calls functions by name: what a worker can offer."""

    @property
    def handlers(self) -> Collection[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    name: str
    queues: Sequence[str]
    namespace: str
    concurrency: int = 10
    lease: float = 30.0
    """Seconds that it may be silent before its tasks are given to others."""
    drain: float = 30.0
    """Seconds for what is under way when it is stopped; then it is given back."""


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
        self._local = LocalWorker(clock, executors=named, clusters=clusters)
        self._held: dict[str, QueueTask] = {}
        self._lines = WorkerLines(source, clock, settings.namespace)
        self._memo = WorkerMemo()
        self._results: list[TaskReport] = []
        self._suspending: list[Suspend] = []
        self._ready = asyncio.Event()
        self._freed = asyncio.Event()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Takes no more tasks, and ends when those under way are done or given back."""
        self._stopping.set()

    async def run(self) -> None:
        """Until it is stopped. Raises what no waiting can mend: a key that is refused, a queue that is not its own."""
        beating = asyncio.ensure_future(self._beat_all())
        saying = asyncio.ensure_future(self._lines.send_all())
        reporting = asyncio.ensure_future(self._report_all())
        claiming = asyncio.ensure_future(self._claim_all())
        stopped = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait((claiming, beating, reporting, stopped), return_when=asyncio.FIRST_COMPLETED)
            claiming.cancel()
            await asyncio.gather(claiming, return_exceptions=True)
            await self._drain()
            for each in (claiming, beating, reporting):
                if each.done() and not each.cancelled():
                    each.result()
        finally:
            for each in (claiming, beating, saying, reporting, stopped):
                each.cancel()
            await self._local.close()

    # -- claiming ------------------------------------------------------------------------------------------------

    async def _claim_all(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            self._freed.clear()
            free = self._settings.concurrency - len(self._held)
            if not free:
                await self._freed.wait()
                continue
            try:
                tasks = await self._claim(free)
                pause = _FIRST_PAUSE
            except (Unavailable, Busy) as error:
                log.warning("can't get tasks for now, will try again in %.1f s: %s", pause, error)
                await sleep(self._clock, pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
                continue
            for task in tasks:
                self._begin(task)

    async def _claim(self, limit: int) -> list[QueueTask]:
        settings = self._settings
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

    def _begin(self, claimed: QueueTask) -> None:
        self._held[claimed.id] = claimed
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
        """Tried again while the source is away: the same entry twice is one."""
        pause = _FIRST_PAUSE
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
                pause = min(pause * 2, _LONGEST_PAUSE)

    # -- reporting -----------------------------------------------------------------------------------------------

    def _ended(self, run_id: RunId, result: TaskResult | Suspend) -> None:
        if isinstance(result, Suspend):
            self._suspending.append(result)
            self._ready.set()
            return
        if result.error is None:
            self._memo.keep(result.token, result.output)
        self._note(_report(result))

    def _note(self, report: TaskReport) -> None:
        self._results.append(report)
        self._ready.set()

    async def _report_all(self) -> None:
        """Those that ended while the last report was on its way go together, as often as it takes."""
        while True:
            await self._ready.wait()
            await self._suspend_all()
            batch, self._results = _batch(self._results)
            if not self._results:
                self._ready.clear()
            await self._lines.send([report.id for report in batch])  # while their claims hold
            if batch:
                await self._insist(batch)
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
                await sleep(self._clock, _FIRST_PAUSE)
                continue
            except PlaitError as error:
                log.warning("an attempt could not be suspended: %s", error)
            self._suspending.pop(0)
            self._forget(wanted.token)

    async def _insist(self, batch: list[TaskReport]) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                await self._report(batch)
                return
            except (Unavailable, Busy) as error:
                log.warning("can't report %d results for now: %s", len(batch), error)
                await sleep(self._clock, pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    async def _report(self, batch: list[TaskReport]) -> None:
        try:
            found = await self._source.report(batch, namespace=self._settings.namespace)
        except (InvalidInput, TooLarge) as error:
            if len(batch) > 1:
                for report in batch:
                    await self._report([report])
            elif batch[0].error is None:  # a result that can't be taken: no other attempt would mend that
                failure = TaskFailure.of(describe(error))
                await self._report([TaskReport(id=batch[0].id, error=failure, retryable=False)])
            else:
                self._say_refused(batch[0], error)
            return
        for report, refusal in zip(batch, found, strict=True):
            if isinstance(refusal, InvalidInput | TooLarge) and report.error is None:
                await self._report([TaskReport(id=report.id, error=TaskFailure.of(describe(refusal)), retryable=False)])
            elif refusal is not None:
                self._say_refused(report, refusal)

    def _say_refused(self, report: TaskReport, error: PlaitError) -> None:
        held = self._held.get(report.id)
        log.warning("the result of %s was not accepted: %s", "a task" if held is None else held.label, error)

    def _forget(self, id: str) -> None:
        self._held.pop(id, None)
        self._lines.forget(id)
        self._memo.forget(id)
        self._freed.set()

    # -- staying alive -------------------------------------------------------------------------------------------

    async def _beat_all(self) -> None:
        while True:
            await sleep(self._clock, self._settings.lease / _BEATS)
            await asyncio.gather(*(self._beat(task) for task in list(self._held.values())))

    async def _beat(self, task: QueueTask) -> None:
        progress = self._local.progress(run_key(task.namespace, task.run_id), TaskToken(task.id))
        try:
            wanted = await self._source.heartbeat(task.id, progress, namespace=self._settings.namespace)
        except (Conflict, NotFound):
            wanted = False
        except PlaitError as error:
            log.warning("no heartbeat for %s: %s", task.label, error)
            return
        if not wanted and task.id in self._held:
            log.warning("%s is not wanted any more", task.label)
            self._drop(task)

    def _drop(self, task: QueueTask) -> None:
        self._local.cancel(run_key(task.namespace, task.run_id), TaskToken(task.id))
        self._forget(task.id)

    async def _drain(self) -> None:
        """Lets what is under way end, and gives back what does not in time."""
        until = self._clock.monotonic() + self._settings.drain
        while self._held and (left := until - self._clock.monotonic()) > 0:
            self._freed.clear()
            alarm = self._clock.call_later(left, self._freed.set)
            await self._freed.wait()
            alarm.cancel()
        for task in list(self._held.values()):
            self._drop(task)
            try:
                await self._source.release(task.id, namespace=self._settings.namespace)
            except PlaitError as error:
                log.warning("%s could not be given back: %s", task.label, error)


def _report(result: TaskResult) -> TaskReport:
    if result.error is None:
        return TaskReport(id=result.token, output=result.output)
    progress = UNSET if result.progress is values.NULL else result.progress
    failure = TaskFailure.of(result.error)
    return TaskReport(id=result.token, error=failure, retryable=result.retryable, progress=progress)


def _batch(reports: list[TaskReport]) -> tuple[list[TaskReport], list[TaskReport]]:
    """What goes into one request, and the rest."""
    size = 0
    for count, report in enumerate(reports):
        size += len(bytes(report.output)) if isinstance(report.output, Raw) else 0
        if count and (size > _BATCH_BYTES or count == _BATCH):
            return reports[:count], reports[count:]
    return reports, []


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
