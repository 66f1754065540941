"""asyncio's own event loop, for simulations, without what they don't need. They have no sockets, so the system is
polled only when nothing else is ready; callbacks are not debugged, and no signal stops the loop. The order of execution
is the same as in asyncio's loop: a seed has the same logs in both."""

# It uses parts of asyncio's loop that have no public names.
# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportAttributeAccessIssue=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor
from contextvars import Context, copy_context
from typing import Any, TypeVar

T = TypeVar("T")


class _PatientSelector(selectors.DefaultSelector):
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return [] if timeout == 0 else super().select(timeout)


class _Handle(asyncio.Handle):
    """Like its base class, but without checking the loop's debug mode."""

    __slots__ = ()

    def __init__(
        self, callback: Callable[..., object], args: tuple[Any, ...], loop: _SimulationLoop, context: Context | None
    ) -> None:
        self._callback = callback
        self._args = args
        self._cancelled = False
        self._loop = loop
        self._context = copy_context() if context is None else context
        self._source_traceback = self._repr = None


class _SimulationLoop(asyncio.SelectorEventLoop):
    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        handle = _Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def run_in_executor(self, executor: Executor | None, func: Callable[..., Any], *args: Any) -> Any:
        """Not supported: virtual time does not wait for a thread, so the outcome of a seed would be random."""
        raise RuntimeError(f"a simulation can't wait for a thread, which was to do {func}")

    def _run_once(self) -> None:
        ready = self._ready
        if self._scheduled or not ready:
            super()._run_once()  # type: ignore[misc]
            return
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()


class Round:
    """`await ROUND` is a cheaper `await asyncio.sleep(0)`, which costs as much as half of the work in a round."""

    def __await__(self) -> Generator[None]:
        yield


ROUND = Round()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Like `asyncio.run`."""
    loop = _SimulationLoop(_PatientSelector())
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(work)
    finally:
        try:
            _end(loop)
        finally:
            asyncio.set_event_loop(None)
            loop.close()


def _end(loop: asyncio.AbstractEventLoop) -> None:
    if left := asyncio.all_tasks(loop):
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
