"""Background work beside the run loop that must get done: it is retried while the store is unavailable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, cast

from .clock import Clock
from .errors import PlaitError, Unavailable
from .observer import Observers

log = logging.getLogger("plait.kernel")

_RETRY_AFTER = 1.0


class Background:
    def __init__(self, clock: Clock, observers: Observers) -> None:
        self._clock = clock
        self._observers = observers
        self._tasks: dict[asyncio.Task[Any], None] = {}
        """In start order: a repeated simulation must end them in the same order."""
        self._later: set[Callable[[], Awaitable[None]]] = set()
        """Work scheduled for a retry. The same work is not scheduled twice; otherwise an outage would cause as many
        retries a second as there were requests."""
        self._closed = False

    def __bool__(self) -> bool:
        """Whether any work is in flight."""
        return bool(self._tasks)

    def spawn(self, work: Awaitable[None]) -> None:
        task = asyncio.get_running_loop().create_task(cast("Coroutine[Any, Any, None]", work))
        self._tasks[task] = None
        task.add_done_callback(self._ended)

    def keep_trying(self, work: Callable[[], Awaitable[None]]) -> None:
        if not self._closed:
            self.spawn(self.now_or_later(work))

    async def now_or_later(self, work: Callable[[], Awaitable[None]]) -> None:
        """Runs the work; if the store is unavailable, returns and retries later."""
        try:
            await work()
        except Unavailable as error:
            log.warning("will try again: %s", error)
            self._observers.unavailable(error)
            if work not in self._later:
                self._later.add(work)
                self._clock.call_later(_RETRY_AFTER, lambda: self._try_again(work))

    def _try_again(self, work: Callable[[], Awaitable[None]]) -> None:
        self._later.discard(work)
        self.keep_trying(work)

    async def start(self) -> None:
        """Nothing to start: callers submit work as needed."""

    async def stop(self) -> None:
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            level = logging.WARNING if isinstance(error, PlaitError) else logging.ERROR
            log.log(level, "background work failed: %s", error, exc_info=None if level < logging.ERROR else error)
