"""Scripts that are interpreted in this process: the short ones on the event loop, the others in threads.

Nobody knows beforehand how long a script runs. So it is tried with what takes a few hundred microseconds at most; if
that was not enough, it starts again in a thread, with all that it may take. It has no effects, so nobody notices.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from msgspec import Raw

from plait.kernel.errors import Unavailable

T = TypeVar("T")

THREADS = 4
MOST_ON_LOOP = 8 * 1024
"""Bytes of a document, or of a script to compile; larger ones go to a thread at once."""


class NotEnough(Exception):
    """A try on the event loop took all that it may."""


class Offloading:
    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "plait-script")
        self._closed = False

    async def run(self, document: Raw, quick: Callable[[], T], full: Callable[[], T]) -> T:
        """What `quick` gives, unless it raises `NotEnough` or the document is large; then what `full` gives."""
        if len(bytes(document)) <= MOST_ON_LOOP:
            try:
                return quick()
            except NotEnough:
                pass
        return await self.in_thread(full)

    async def in_thread(self, full: Callable[[], T]) -> T:
        if self._closed:
            raise Unavailable(
                "scripts.stopped", "scripts can't run", why="the engine is stopping", fix="start it again"
            )
        return await asyncio.get_running_loop().run_in_executor(self._threads, full)

    def close(self) -> None:
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
