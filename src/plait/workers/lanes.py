"""Lanes: asyncio tasks that run attempts one after the other.

Most attempts end without waiting: a task for each would cost more than they do. So one lane runs all that are queued.
An attempt that waits keeps the lane for itself, as if it had been created for it, and the rest get new lanes. Each
attempt has its own context; `asyncio.current_task()` is its lane.
"""

from __future__ import annotations

import asyncio
import types
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from typing import Any, Final

from plait.kernel.task import Attempt

_ENDED: Final = object()
"""Marks the end of an attempt: `send` would raise an exception instead, which costs as much as a small step."""


class Lanes:
    def __init__(self, run: Callable[[Attempt], Coroutine[Any, Any, None]], waits: Callable[[Attempt], None]) -> None:
        """`waits` is called with each attempt that does not end at once."""
        self._run = run
        self._waits = waits
        self._waiting: deque[Attempt] = deque()
        self._taking = 0
        """How many lanes take queued attempts, or will."""
        self._open: set[asyncio.Task[None]] = set()

    def add(self, attempt: Attempt) -> None:
        self._waiting.append(attempt)
        if not self._taking:
            self._open_another()

    async def close(self) -> None:
        """Waits until all cancelled lanes have ended."""
        await asyncio.gather(*self._open, return_exceptions=True)

    def _open_another(self) -> None:
        self._taking += 1
        lane = asyncio.get_running_loop().create_task(self._lane(), name="plait.steps")
        self._open.add(lane)
        lane.add_done_callback(self._open.discard)

    async def _lane(self) -> None:
        try:
            found = self._take_all()
        finally:
            self._taking -= 1
            while self._taking < len(self._waiting):  # they may have to wait as well
                self._open_another()
        if found is not None:
            await _go_on(*found)

    def _take_all(self) -> tuple[Coroutine[Any, Any, None], Context, Any] | None:
        """Runs queued attempts until one waits; returns that with its context and what it awaits."""
        waiting, run, lane = self._waiting, self._run, asyncio.current_task()
        if lane is None:
            return None
        is_cancelled = lane.cancelling
        while waiting and not is_cancelled():
            attempt = waiting.popleft()
            if attempt.over:  # revoked
                continue
            attempt.lane = lane
            context, coroutine = copy_context(), run(attempt)
            awaited = context.run(next, coroutine.__await__(), _ENDED)
            if awaited is _ENDED:
                continue
            if not attempt.over:
                self._waits(attempt)
            return coroutine, context, awaited
        return None


@types.coroutine
def _go_on(coroutine: Coroutine[Any, Any, None], context: Context, awaited: Any) -> Generator[Any, Any, None]:
    """Runs the rest of a waiting coroutine, in its own context."""
    while True:
        try:
            try:
                sent = yield awaited
            except BaseException as error:
                awaited = context.run(coroutine.throw, error)
            else:
                awaited = context.run(coroutine.send, sent)
        except StopIteration:
            return
