"""The local worker: runs Python callables in the engine's own process.

Async functions run on the event loop, plain ones in a pool of threads. Timeouts and heartbeats are
checked by the kernel's clock. A thread can't be stopped: its result is dropped when it comes too late.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Raw

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import ErrorInfo, TooLarge
from plait.kernel.failures import describe
from plait.kernel.ids import Millis, RunId, TaskToken, caller_id
from plait.kernel.inputs import TaskResult
from plait.kernel.observer import Around
from plait.kernel.task import CALL, LATER, Attempt, Call, Executor, TaskError, current_attempt
from plait.kernel.values import NULL, NotEncodable

from .deadlines import Deadlines

THREADS = 32
WORTH_TELLING = 10
"""Milliseconds in the queue; less is the ordinary cost of a thread."""


class LocalWorker:
    def __init__(
        self,
        clock: Clock,
        *,
        max_payload: int = values.MAX_BYTES,
        threads: int = THREADS,
        around: Around | None = None,
        executors: Iterable[Executor] = (),
    ) -> None:
        self.clock = clock
        self.around = around
        self.executors: dict[str, Executor] = {}
        for executor in executors:
            self.add(executor)
        self.max_payload = max_payload
        self.threads = ThreadPoolExecutor(threads, thread_name_prefix="plait-step")
        self.timeouts: Deadlines[_Execution] = Deadlines(clock, _Execution.time_is_up)
        self.heartbeats: Deadlines[_Execution] = Deadlines(clock, _Execution.beat_is_due)
        self.running: dict[tuple[RunId, TaskToken], _Execution] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, executor: Executor) -> None:
        """From now on it does the tasks of its kinds."""
        self.executors |= dict.fromkeys(executor.kinds, executor)

    def start(self, attempt: Attempt) -> None:
        task, policy = attempt.task, attempt.task.policy
        execution = self.running[attempt.run_id, task.token] = _Execution(self, attempt)
        if policy.timeout is not None:
            self.timeouts.begin(execution, policy.timeout)
        if policy.heartbeat is not None:
            self.heartbeats.begin(execution, policy.heartbeat)
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        execution.task = self._loop.create_task(execution.run(), name=f"{attempt.run_id}:{task.token}")

    def cancel(self, run_id: RunId, token: TaskToken) -> None:
        execution = self.running.get((run_id, token))
        if execution is not None:
            execution.abandon()

    def progress(self, run_id: RunId, token: TaskToken) -> Raw | None:
        """What an attempt under way last reported; None if nothing."""
        execution = self.running.get((run_id, token))
        return None if execution is None else execution.progress

    def name_of(self, task: asyncio.Task[Any]) -> str | None:
        """Which step a task of the event loop is; asked by another thread while that loop is held up."""
        found = next((execution for execution in list(self.running.values()) if execution.task is task), None)
        return None if found is None else found.name

    async def close(self) -> None:
        running = list(self.running.values())
        tasks = [execution.task for execution in running if execution.task is not None]
        for execution in running:
            execution.abandon()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.timeouts.stop()
        self.heartbeats.stop()
        self.threads.shutdown(wait=False, cancel_futures=True)


class _Execution:
    """One attempt under way."""

    __slots__ = ("_asked", "_attempt", "_beaten", "_began", "_over", "_progress", "_worker", "task")

    def __init__(self, worker: LocalWorker, attempt: Attempt) -> None:
        self._worker = worker
        self._attempt = attempt
        self._progress = NULL
        self._beaten = 0.0
        self._asked: float | None = None
        self._began: float | None = None
        """When a thread was asked for, and when it began; between, it waits for a free one."""
        self._over = False
        self.task: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return f"{self._attempt.task.label} of run {caller_id(self._attempt.run_id)}"

    @property
    def progress(self) -> Raw | None:
        return self._progress if self._beaten else None

    def abandon(self) -> None:
        """Nobody wants the result any more."""
        task = self.task
        self._end()
        if task is not None:
            task.cancel()

    async def run(self) -> None:
        attempt, around = self._attempt, self._worker.around
        attempt.beat = self._beat
        current_attempt.set(attempt)
        try:
            if around is None:
                output = await self._execute()
            else:
                with around(attempt):
                    output = await self._execute()
            later = output is LATER
            raw = values.NULL if later else values.encode(output, max_bytes=self._worker.max_payload)
            if attempt.task.kind == CALL:
                attempt.task.input.check(output, raw)
        except asyncio.CancelledError as error:
            # Ours is wanted by nobody; one of the step's own making is a failure like others
            self._fail(describe(error, kind="cancelled"), retryable=True)
        except (NotEncodable, TooLarge) as error:
            self._fail(describe(error, kind="not_encodable"), retryable=False)
        except BaseException as error:
            final = isinstance(error, attempt.task.policy.retry.never) or getattr(error, "retryable", True) is False
            self._fail(describe(error), retryable=not final)
            if isinstance(error, KeyboardInterrupt):
                raise
        else:
            queued = Millis(0) if self._asked is None else self._queued
            self._report(TaskResult(attempt.task.token, attempt.number, raw, queued=queued, later=later))

    async def _execute(self) -> Any:
        attempt = self._attempt
        task = attempt.task
        if task.kind == CALL:
            call: Call = task.input
            output = call() if not call.threaded else await self._in_thread(call)
            return await output if hasattr(output, "__await__") else output
        executor = self._worker.executors.get(task.kind)
        if executor is None:
            raise TaskError(f"this process can't do tasks of the kind `{task.kind}`", retryable=True)
        attempt.in_thread = self._in_thread
        return await executor.execute(task, attempt)

    async def _in_thread(self, function: Callable[[], Any]) -> Any:
        context, loop = contextvars.copy_context(), asyncio.get_running_loop()
        self._asked = self._worker.clock.monotonic()

        def work() -> Any:
            self._began = self._worker.clock.monotonic()
            try:
                return context.run(function)
            except StopIteration as error:  # which no future can hold
                raise RuntimeError(f"StopIteration: {error}") from error

        output = await loop.run_in_executor(self._worker.threads, work)
        if not hasattr(output, "__await__"):
            return output
        # A plain function that gave a coroutine: that one must know its step, as the function did
        name = f"{self._attempt.run_id}:{self._attempt.task.token}"
        return await loop.create_task(_awaited(output), name=name, context=context)

    def _beat(self, progress: Raw) -> None:
        """May come from a thread, so it only leaves a mark."""
        self._beaten = self._worker.clock.monotonic()
        self._progress = progress

    def time_is_up(self) -> None:
        label, policy = self._attempt.task.label, self._attempt.task.policy
        if policy.timeout is None:
            return
        if (since := self._thread_began()) + policy.timeout > self._worker.clock.monotonic():
            self._worker.timeouts.begin_again(self, since + policy.timeout)
            return
        self._expire("timeout", f"{label} took longer than {policy.timeout:g} s", retryable=policy.retry_on_timeout)

    def beat_is_due(self) -> None:
        heartbeat = self._attempt.task.policy.heartbeat
        if heartbeat is None:
            return
        alive = max(self._beaten, self._thread_began())
        if alive + heartbeat > self._worker.clock.monotonic():
            self._worker.heartbeats.begin_again(self, alive + heartbeat)
        else:
            message = f"{self._attempt.task.label} gave no heartbeat for {heartbeat:g} s"
            self._expire("heartbeat", message, retryable=True)

    def _thread_began(self) -> float:
        """The time it waits for a free thread is not its own."""
        if self._asked is None:
            return 0.0
        return self._worker.clock.monotonic() if self._began is None else self._began

    @property
    def _queued(self) -> Millis:
        """How long it waited for a thread, where that is worth telling."""
        asked, began = self._asked, self._began
        waited = 0 if asked is None or began is None else round((began - asked) * 1000)
        return Millis(waited) if waited >= WORTH_TELLING else Millis(0)

    def _expire(self, kind: str, message: str, *, retryable: bool) -> None:
        task = self.task
        self._fail(ErrorInfo(f"task.{kind}", message, kind=kind), retryable=retryable)
        if task is not None:
            task.cancel()

    def _fail(self, error: ErrorInfo, *, retryable: bool) -> None:
        attempt = self._attempt
        result = TaskResult(
            attempt.task.token,
            attempt.number,
            error=error,
            retryable=retryable,
            progress=self._progress,
            queued=self._queued,
        )
        self._report(result)

    def _report(self, result: TaskResult) -> None:
        if not self._over:
            self._end()
            self._attempt.report(self._attempt.run_id, result)

    def _end(self) -> None:
        if self._over:
            return
        self._over = True
        attempt, worker = self._attempt, self._worker
        # The task knows us by its context, the attempt by its beat: without this all wait for a garbage collection
        self.task = attempt.beat = attempt.in_thread = None
        del worker.running[attempt.run_id, attempt.task.token]
        policy = attempt.task.policy
        if policy.timeout is not None:
            worker.timeouts.end(self, policy.timeout)
        if policy.heartbeat is not None:
            worker.heartbeats.end(self, policy.heartbeat)


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
