"""The local worker: runs Python callables in the engine's own process.

Async functions run on the event loop, plain ones in a pool of threads. Timeouts and heartbeats are
checked by the kernel's clock. A thread can't be stopped: its result is dropped when it comes too late.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Raw

from plait.kernel import values
from plait.kernel.clock import Alarm, Clock
from plait.kernel.effects import Attempt
from plait.kernel.errors import ErrorInfo, TooLarge
from plait.kernel.failures import describe
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.inputs import TaskResult
from plait.kernel.values import NULL, NotEncodable
from plait.kernel.worker import Job

THREADS = 32


class LocalWorker:
    def __init__(self, clock: Clock, *, max_payload: int = values.MAX_BYTES, threads: int = THREADS) -> None:
        self.clock = clock
        self.max_payload = max_payload
        self.threads = ThreadPoolExecutor(threads, thread_name_prefix="plait-step")
        self._running: dict[tuple[RunId, TaskToken], _Execution] = {}

    def start(self, job: Job) -> None:
        execution = _Execution(self, job)
        self._running[job.run_id, job.task.token] = execution
        execution.begin()

    def cancel(self, run_id: RunId, token: TaskToken) -> None:
        execution = self._running.pop((run_id, token), None)
        if execution is not None:
            execution.abandon()

    def ended(self, job: Job) -> None:
        self._running.pop((job.run_id, job.task.token), None)

    async def close(self) -> None:
        running, self._running = self._running, {}
        for execution in running.values():
            execution.abandon()
        await asyncio.gather(*(e.task for e in running.values() if e.task), return_exceptions=True)
        self.threads.shutdown(wait=False, cancel_futures=True)


class _Execution:
    """One attempt under way."""

    __slots__ = ("_alarm", "_beaten", "_job", "_over", "_progress", "_started", "_worker", "task")

    def __init__(self, worker: LocalWorker, job: Job) -> None:
        self._worker = worker
        self._job = job
        self._alarm: Alarm | None = None
        self._progress = NULL
        self._started = self._beaten = 0.0
        self._over = False
        self.task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        task = self._job.task
        if task.timeout is not None or task.heartbeat is not None:
            self._started = self._beaten = self._worker.clock.monotonic()
            self._watch()
        name = f"{self._job.run_id}:{task.token}"
        self.task = asyncio.get_running_loop().create_task(self._run(), name=name)

    def abandon(self) -> None:
        """Nobody wants the result any more."""
        self._over = True
        self._stop_watching()
        if self.task is not None:
            self.task.cancel()

    async def _run(self) -> None:
        job = self._job
        attempt = Attempt(job.attempt, job.progress, self._beat)
        try:
            output = job.task.call(attempt) if not job.task.threaded else await self._in_thread(attempt)
            if inspect.isawaitable(output):
                output = await output
            raw = values.encode(output, max_bytes=self._worker.max_payload)
        except asyncio.CancelledError as error:
            if not self._over:  # the step's own doing, not ours
                self._fail(describe(error, kind="cancelled"), retryable=True)
            return
        except (NotEncodable, TooLarge) as error:
            self._fail(describe(error, kind="not_encodable"), retryable=False)
        except BaseException as error:
            final = isinstance(error, job.task.retry.never) or getattr(error, "retryable", True) is False
            self._fail(describe(error), retryable=not final)
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
        else:
            self._report(TaskResult(job.task.token, job.attempt, raw))

    async def _in_thread(self, attempt: Attempt) -> Any:
        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker.threads, context.run, self._job.task.call, attempt)

    def _beat(self, progress: Raw) -> None:
        self._beaten = self._worker.clock.monotonic()
        self._progress = progress

    def _watch(self) -> None:
        """Sets the alarm for the earlier of the timeout and the next heartbeat that must have come."""
        task = self._job.task
        now = self._worker.clock.monotonic()
        limits = [
            *([self._started + task.timeout] if task.timeout is not None else ()),
            *([self._beaten + task.heartbeat] if task.heartbeat is not None else ()),
        ]
        self._alarm = self._worker.clock.call_later(max(0.0, min(limits) - now), self._look)

    def _look(self) -> None:
        task = self._job.task
        now = self._worker.clock.monotonic()
        if self._over:
            return
        if task.timeout is not None and now >= self._started + task.timeout:
            self._expire(
                "timeout", f"{task.label} took longer than {task.timeout:g} s", retryable=task.retry_on_timeout
            )
        elif task.heartbeat is not None and now >= self._beaten + task.heartbeat:
            self._expire("heartbeat", f"{task.label} gave no heartbeat for {task.heartbeat:g} s", retryable=True)
        else:
            self._watch()

    def _expire(self, kind: str, message: str, *, retryable: bool) -> None:
        self._fail(ErrorInfo(f"task.{kind}", message, kind=kind), retryable=retryable)
        if self.task is not None:
            self.task.cancel()

    def _fail(self, error: ErrorInfo, *, retryable: bool) -> None:
        job = self._job
        self._report(TaskResult(job.task.token, job.attempt, error=error, retryable=retryable, progress=self._progress))

    def _report(self, result: TaskResult) -> None:
        if self._over:
            return
        self._over = True
        self._stop_watching()
        self._worker.ended(self._job)
        self._job.report(self._job.run_id, result)

    def _stop_watching(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
