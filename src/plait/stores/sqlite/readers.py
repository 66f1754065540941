"""Threads that read lists beside the loop that commits, each with its own read-only connection.

A list may lead to many rows. In write-ahead mode it sees the database as of its start, waits for no commit and blocks
none.
"""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

import apsw

T = TypeVar("T")

_STEPS = 100_000
"""Steps of SQLite's virtual machine, a millisecond or two, after which a reader checks whether to continue."""
READERS = 2
"""With two, one slow list does not block all others."""


class Readers:
    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._closing = False
        self._all = [connect() for _ in range(READERS)]
        self._free: SimpleQueue[apsw.Connection] = SimpleQueue()
        for db in self._all:
            db.execute("pragma query_only = on")
            db.set_progress_handler(self._is_closing, _STEPS)
            self._free.put(db)
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="plait-sqlite-reader")

    async def read(self, work: Callable[[apsw.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._work, work)

    def close(self) -> None:
        """Stops running and queued reads with an error: cancelling their futures would look to a caller like a cancel
        of the caller itself."""
        self._closing = True
        self._threads.shutdown()
        for db in self._all:
            db.close()

    def _is_closing(self) -> bool:
        return self._closing

    def _work(self, work: Callable[[apsw.Connection], T]) -> T:
        db = self._free.get()  # never empty: as many threads as connections
        try:
            if self._closing:
                raise apsw.InterruptError
            return work(db)
        finally:
            self._free.put(db)
