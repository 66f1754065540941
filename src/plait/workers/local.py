"""The local worker: runs Python callables in the engine's own process.

Async functions run on the event loop, plain ones in a pool of threads. Timeouts and heartbeats are checked by the
kernel's clock. A thread can't be stopped: its result is dropped if it comes too late, and another thread replaces it.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import CoroutineType
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from plait.clusters.clusters import Clusters
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import ErrorInfo, TooLarge
from plait.kernel.failures import describe
from plait.kernel.ids import Millis, RunId, TaskToken, caller_id
from plait.kernel.inputs import Suspend, TaskResult
from plait.kernel.journal import Suspended
from plait.kernel.observer import Around
from plait.kernel.task import CALL, LATER, Attempt, Call, Executor, TaskError, current_attempt
from plait.kernel.values import NULL, NotEncodable

from .deadlines import Deadlines
from .lanes import Lanes

THREADS = 32
"""Threads whose results are needed."""
_MAX_THREADS = 1_000
"""Threads including those that can't be stopped although their results are no longer needed."""
WORTH_TELLING = 10
"""Milliseconds in the queue worth reporting; less is the ordinary cost of a thread."""


_set_current_attempt = current_attempt.set
_Coroutine: type[Any] = CoroutineType


class LocalWorker:
    def __init__(
        self,
        clock: Clock,
        *,
        max_payload: int = values.MAX_BYTES,
        threads: int = THREADS,
        around: Around | None = None,
        executors: Iterable[Executor] = (),
        clusters: Clusters | None = None,
    ) -> None:
        self.clock = clock
        self.around = around
        self.executors: dict[str, Executor] = {}
        for executor in executors:
            self.add(executor)
        self.max_payload = max_payload
        self.threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="plait-step")
        self.in_threads: set[Attempt] = set()
        """Attempts whose functions run in a thread now, including abandoned ones."""
        self._free_threads = asyncio.Semaphore(threads)
        self.timeouts: Deadlines[Attempt] = Deadlines(clock, self._time_is_up)
        self.heartbeats: Deadlines[Attempt] = Deadlines(clock, self._beat_is_due)
        self.running: dict[tuple[RunId, TaskToken], Attempt] = {}
        self._clusters = clusters
        self._lanes = Lanes(self._run, self._begin_limits)

    def add(self, executor: Executor) -> None:
        """Registers an executor for tasks of its kinds."""
        self.executors |= dict.fromkeys(executor.kinds, executor)

    def start(self, attempt: Attempt) -> None:
        place = attempt.run_id, attempt.task.token
        before = self.running.setdefault(place, attempt)
        if before is not attempt:  # of a run that was dropped when the commit that revoked this was refused
            self._abandon(before)
            self.running[place] = attempt
        attempt.worker = self
        self._lanes.add(attempt)

    def _begin_limits(self, attempt: Attempt) -> None:
        """Starts the timeouts of an attempt that waits. Most don't, and nothing could stop one that does not."""
        attempt.limited = True
        policy = attempt.task.policy
        if policy.timeout is not None:
            self.timeouts.begin(attempt, policy.timeout)
        if policy.heartbeat is not None:
            self.heartbeats.begin(attempt, policy.heartbeat)

    def cancel(self, run_id: RunId, token: TaskToken) -> None:
        attempt = self.running.get((run_id, token))
        if attempt is not None:
            self._abandon(attempt)

    def progress(self, run_id: RunId, token: TaskToken) -> Raw | None:
        """The latest progress of an attempt in flight; None if it reported none."""
        attempt = self.running.get((run_id, token))
        return None if attempt is None else attempt.reported

    def name_of(self, task: asyncio.Task[Any]) -> str | None:
        """The step that an asyncio task runs; called by another thread while the loop is blocked."""
        found = next((attempt for attempt in list(self.running.values()) if attempt.lane is task), None)
        return None if found is None else f"{found.task.label} of run {caller_id(found.run_id)}"

    async def close(self) -> None:
        if self._clusters is not None:
            self._clusters.leave()
        for attempt in list(self.running.values()):
            self._abandon(attempt)
        await self._lanes.close()
        self.timeouts.stop()
        self.heartbeats.stop()
        self.threads.shutdown(wait=False, cancel_futures=True)

    # -- an attempt ----------------------------------------------------------------------------------------------

    async def _run(self, attempt: Attempt) -> None:
        _set_current_attempt(attempt)
        task = attempt.task
        call: Call | None = task.input if task.kind == CALL else None
        try:
            if self.around is not None:
                with self.around(attempt):
                    output = await self._execute(attempt)
            elif call is not None and not call.threaded:  # by far the most common
                output = call.call()
                if type(output) is _Coroutine or hasattr(output, "__await__"):
                    output = await output
            else:
                output = await self._execute(attempt)
            if type(output) is Suspended:
                self._suspend(attempt, output)
                return
            raw = NULL if output is LATER else values.encode(output, self.max_payload)
            if call is not None:
                call.check(output, raw)
        except asyncio.CancelledError as error:
            # Our own cancel needs no report; one raised by the step itself is a failure like others
            self._fail(attempt, describe(error, kind="cancelled"), retryable=True)
        except (NotEncodable, TooLarge) as error:
            self._fail(attempt, describe(error, kind="not_encodable"), retryable=False)
        except BaseException as error:
            final = isinstance(error, task.policy.retry.never) or getattr(error, "retryable", True) is False
            self._fail(attempt, describe(error), retryable=not final)
            if isinstance(error, KeyboardInterrupt):
                raise
        else:
            result = TaskResult(task.token, attempt.number, raw)
            if output is LATER or attempt.thread_asked is not None:
                result = replace(result, queued=_queued(attempt), later=output is LATER)
            if not attempt.over:
                self._end(attempt)
                report = attempt.report
                report(attempt.run_id, result)

    async def _execute(self, attempt: Attempt) -> Any:
        task = attempt.task
        if task.kind == CALL:
            call: Call = task.input
            output = call.call() if not call.threaded else await self.in_thread(attempt, call.call)
            return await output if hasattr(output, "__await__") else output
        executor = self.executors.get(task.kind)
        if executor is None:
            raise TaskError(f"this process can't do tasks of the kind `{task.kind}`", retryable=True)
        return await executor.execute(task, attempt)

    async def in_thread(self, attempt: Attempt, function: Callable[[], Any]) -> Any:
        context, loop = contextvars.copy_context(), asyncio.get_running_loop()
        attempt.thread_asked = self.clock.monotonic()

        def work() -> Any:
            attempt.thread_began = self.clock.monotonic()
            self.in_threads.add(attempt)
            try:
                return context.run(function)
            except StopIteration as error:  # no future can hold it
                raise RuntimeError(f"StopIteration: {error}") from error
            finally:
                self.in_threads.discard(attempt)

        async with self._free_threads:  # the thread of an abandoned attempt counts as free, whatever it still does
            output = await loop.run_in_executor(self.threads, work)
        if not hasattr(output, "__await__"):
            return output
        # A plain function returned a coroutine: that must know its step, as the function did
        name = f"{attempt.run_id}:{attempt.task.token}"
        return await loop.create_task(_awaited(output), name=name, context=context)

    async def on_cluster(self, attempt: Attempt, on: str, ref: str, arguments: Raw) -> Raw:
        if self._clusters is None:
            raise TaskError(f"this process can't use {on}: it has no clusters", retryable=False)
        return await self._clusters.call(attempt, on, ref, arguments)

    def beat(self, attempt: Attempt, progress: Raw) -> None:
        """Notes a heartbeat; may be called from a thread, so it only stores values."""
        attempt.beaten = self.clock.monotonic()
        attempt.reported = progress

    # -- its end -------------------------------------------------------------------------------------------------

    def _time_is_up(self, attempt: Attempt) -> None:
        label, policy = attempt.task.label, attempt.task.policy
        if policy.timeout is None:
            return
        if (since := self._thread_began(attempt)) + policy.timeout > self.clock.monotonic():
            self.timeouts.begin_again(attempt, since + policy.timeout)
            return
        error = ErrorInfo("task.timeout", f"{label} took longer than {policy.timeout:g} s", kind="timeout")
        self._expire(attempt, error, retryable=policy.retry_on_timeout)

    def _beat_is_due(self, attempt: Attempt) -> None:
        heartbeat = attempt.task.policy.heartbeat
        if heartbeat is None:
            return
        alive = max(attempt.beaten, self._thread_began(attempt))
        if alive + heartbeat > self.clock.monotonic():
            self.heartbeats.begin_again(attempt, alive + heartbeat)
        else:
            message = f"{attempt.task.label} gave no heartbeat for {heartbeat:g} s"
            self._expire(attempt, ErrorInfo("task.heartbeat", message, kind="heartbeat"), retryable=True)

    def _thread_began(self, attempt: Attempt) -> float:
        """When its function began; waiting for a free thread does not count."""
        if attempt.thread_asked is None:
            return 0.0
        return self.clock.monotonic() if attempt.thread_began is None else attempt.thread_began

    def _abandon(self, attempt: Attempt) -> None:
        """Stops an attempt whose result is no longer needed."""
        lane = attempt.lane
        self._end(attempt)
        if lane is not None:
            lane.cancel()

    def _expire(self, attempt: Attempt, error: ErrorInfo, *, retryable: bool) -> None:
        lane = attempt.lane
        self._fail(attempt, error, retryable=retryable)
        if lane is not None:
            lane.cancel()

    def _fail(self, attempt: Attempt, error: ErrorInfo, *, retryable: bool) -> None:
        result = TaskResult(
            attempt.task.token,
            attempt.number,
            error=error,
            retryable=retryable,
            progress=attempt.reported or NULL,
            queued=_queued(attempt),
        )
        self._report(attempt, result)

    def _report(self, attempt: Attempt, result: TaskResult | Suspend) -> None:
        if not attempt.over:
            self._end(attempt)
            report = attempt.report
            report(attempt.run_id, result)

    def _suspend(self, attempt: Attempt, suspended: Suspended) -> None:
        self._report(attempt, Suspend(attempt.task.token, attempt.number, suspended.wait, suspended.says))

    def _end(self, attempt: Attempt) -> None:
        if attempt.over:
            return
        attempt.over = True
        attempt.lane = None  # breaks a reference cycle: the lane's context refers to the attempt
        del self.running[attempt.run_id, attempt.task.token]
        if attempt.limited:
            self._end_limits(attempt)

    def _end_limits(self, attempt: Attempt) -> None:
        policy = attempt.task.policy
        if policy.timeout is not None:
            self.timeouts.end(attempt, policy.timeout)
        if policy.heartbeat is not None:
            self.heartbeats.end(attempt, policy.heartbeat)


def _queued(attempt: Attempt) -> Millis:
    """How long it waited for a thread, if that is worth reporting."""
    asked, began = attempt.thread_asked, attempt.thread_began
    if asked is None or began is None:
        return Millis(0)
    waited = round((began - asked) * 1000)
    return Millis(waited) if waited >= WORTH_TELLING else Millis(0)


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
