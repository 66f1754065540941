"""The event loop inside a decision: a deterministic asyncio loop that never waits.

It is the running loop for the duration of a decision, and then restores the previous one. Callbacks run
first in, first out; `time()` is the run's own time; a timer is a durable operation of the run; all I/O is
refused. Tasks hash by the order of their creation, so sets of tasks iterate alike on replay.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import zlib
from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn

import msgspec

from plait.kernel.ids import RunId, caller_id

from .errors import foreign_await
from .host import MAX_CALLBACKS
from .scope import current

_log = logging.getLogger("plait.workflow")

_get_running_loop, _set_running_loop = asyncio._get_running_loop, asyncio._set_running_loop
_swap_current_task: Callable[[Any, Any], Any] | None = getattr(asyncio.tasks, "_swap_current_task", None)


_new_task, _init_task = asyncio.Task[Any].__new__, asyncio.Task[Any].__init__


class TurnTask(asyncio.Task[Any]):
    """A task of the workflow's code."""

    __slots__ = ("dropped", "number")

    number: int
    """The task's hash. Set before anything else, since asyncio puts a new task into a set; so `spawn` makes tasks."""
    dropped: bool
    """Whether the task was pending when its run was evicted: its outcome then means nothing."""

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return self is other


class Callback(msgspec.Struct):
    """What `call_soon` returns. Cheaper than asyncio's own handle, because it is created often."""

    callback: Callable[..., object]
    args: tuple[Any, ...]
    context: contextvars.Context
    off: bool = False

    def cancel(self) -> None:
        self.off = True

    def cancelled(self) -> bool:
        return self.off


class TimerCallback:
    """What `call_later` returns; it stands for a durable timer."""

    def __init__(self, when: float, cancel: Callable[[], None]) -> None:
        self._when = when
        self._cancel = cancel
        self._off = False

    def when(self) -> float:
        return self._when

    def cancel(self) -> None:
        if not self._off:
            self._off = True
            self._cancel()

    def cancelled(self) -> bool:
        return self._off


OpenTimer = Callable[[float, Callable[[], None]], Callable[[], None]]


class TurnLoop(asyncio.AbstractEventLoop):
    def __init__(self, run_id: RunId, time: Callable[[], float], open_timer: OpenTimer) -> None:
        self._run_id = run_id
        self._time = time
        self._open_timer = open_timer
        self.quiet = False
        """Whether nothing takes effect: the function is only inspected or rehearsed."""
        self.ready: deque[Callback] = deque()
        # Tasks of all runs share asyncio's own registry, which equal hashes would make slow
        self._tasks = zlib.crc32(run_id.encode())
        self.alive: list[TurnTask] = []
        self.stuck = False
        """Whether too many callbacks ran without a new operation."""
        self.calls = 0

    def run(self) -> None:
        """Runs callbacks until none is ready."""
        ready = self.ready
        outer = _get_running_loop()
        outer_task = _swap_current_task(outer, None) if _swap_current_task and outer else None
        _set_running_loop(self)
        try:
            while ready:
                callback = ready.popleft()
                if callback.off:
                    continue
                self.calls += 1
                if self.calls > MAX_CALLBACKS:
                    self.stuck = True
                    ready.clear()
                    return
                args = callback.args
                try:
                    if len(args) == 1:  # by far the most common: a task and what it awaited
                        callback.context.run(callback.callback, args[0])
                    else:
                        callback.context.run(callback.callback, *args)
                except (SystemExit, KeyboardInterrupt):
                    continue  # the task keeps the exception as its outcome
        finally:
            _set_running_loop(outer)
            if _swap_current_task and outer:
                _swap_current_task(outer, outer_task)

    def release(self) -> None:
        """Breaks reference cycles once the run is over or evicted, so that its memory is freed."""
        self._time, self._open_timer = _over, _no_timer
        self.alive.clear()

    # -- the asyncio loop interface ------------------------------------------------------------------------------

    def time(self) -> float:
        return self._time()

    def call_soon(self, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None) -> Any:
        handle = Callback(callback, args, contextvars.copy_context() if context is None else context)
        self.ready.append(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> Any:
        where = contextvars.copy_context() if context is None else context

        def fire() -> None:
            self.call_soon(callback, *args, context=where)

        return TimerCallback(when, self._open_timer(when, fire))

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> Any:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: contextvars.Context | None = None) -> Any:
        """Creates a task of the workflow's code. Numbered per scope: bodies that a replay skips create none."""
        scope = current.get()
        return self.spawn(coro, context, name, None if scope is None else scope.task_number())

    def spawn(
        self, coro: Any, context: contextvars.Context | None, name: str | None = None, number: int | None = None
    ) -> TurnTask:
        self._tasks += 1
        task = _new_task(TurnTask)
        task.number, task.dropped = number or self._tasks, False
        _init_task(task, coro, loop=self, name=name, context=context)
        # A parked run is evicted with its tasks pending, on purpose
        task._log_destroy_pending = False  # pyright: ignore[reportAttributeAccessIssue]
        if len(self.alive) > 64 and self._tasks % 64 == 0:
            self.alive = [task for task in self.alive if not task.done()]
        self.alive.append(task)
        return task

    # Always False; read for every future, so it is a C callable rather than a Python function
    get_debug = staticmethod(bool)  # type: ignore[assignment]

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def drop_tasks(self) -> None:
        for task in self.alive:
            task.dropped = not task.done()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Outcomes are seen by whoever awaits them; only a workflow task that nobody awaited must not fail silently."""
        task, error = context.get("future"), context.get("exception")
        earnest = isinstance(task, TurnTask) and not (task.dropped or self.quiet)
        if earnest and isinstance(error, Exception):
            _log.warning("run %s: a task that nobody awaits failed: %r", caller_id(self._run_id), error, exc_info=error)

    def get_exception_handler(self) -> None:
        return None


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise foreign_await("it needs I/O, a thread or a signal, which a workflow function can't use")


_REFUSED = """
    run_forever run_until_complete stop close shutdown_asyncgens shutdown_default_executor
    call_soon_threadsafe run_in_executor set_default_executor getaddrinfo getnameinfo
    create_connection create_server create_unix_connection create_unix_server connect_accepted_socket
    create_datagram_endpoint connect_read_pipe connect_write_pipe start_tls sendfile subprocess_exec subprocess_shell
    sock_accept sock_connect sock_recv sock_recv_into sock_recvfrom sock_recvfrom_into sock_sendall sock_sendto
    sock_sendfile add_reader remove_reader add_writer remove_writer add_signal_handler remove_signal_handler
"""
for _name in _REFUSED.split():
    setattr(TurnLoop, _name, _refuse)


def _over() -> float:
    return 0.0


def _no_timer(when: float, fire: Callable[[], None]) -> Callable[[], None]:
    return fire
