"""Work that goes on beside the run loop and must get done: while the store is away it is tried again."""

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
        """In the order in which they were begun: a simulation that is repeated must end them alike."""
        self._later: set[Callable[[], Awaitable[None]]] = set()
        """Work that is tried again before long. Whoever asks for the same meanwhile need not try on its own: an outage
        would leave as many tries a second as there were requests."""
        self._closed = False

    def __bool__(self) -> bool:
        """Whether something is under way."""
        return bool(self._tasks)

    def spawn(self, work: Awaitable[None]) -> None:
        task = asyncio.get_running_loop().create_task(cast("Coroutine[Any, Any, None]", work))
        self._tasks[task] = None
        task.add_done_callback(self._ended)

    def keep_trying(self, work: Callable[[], Awaitable[None]]) -> None:
        if not self._closed:
            self.spawn(self.now_or_later(work))

    async def now_or_later(self, work: Callable[[], Awaitable[None]]) -> None:
        """Done when this returns, unless the store is away."""
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
        """Each piece of work is begun by whoever wants it."""

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
