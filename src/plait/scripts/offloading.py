"""Runs scripts in this process: short ones on the event loop, others in threads.

The run time of a script is not known beforehand. So it is tried with limits of a few hundred microseconds at most; if
that is not enough, it starts again in a thread, with its full limits. It has no side effects, so this is safe.
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
    """The attempt on the event loop exceeded its limits."""


class Offloading:
    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "plait-script")
        self._closed = False

    async def run(self, document: Raw, quick: Callable[[], T], full: Callable[[], T]) -> T:
        """The result of `quick`, unless it raises `NotEnough` or the document is large; then that of `full`."""
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
