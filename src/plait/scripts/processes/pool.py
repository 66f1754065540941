"""The workers that run the scripts of one language.

They are started on demand, reused, and killed and replaced when they misbehave. Scripts beyond the number of workers
wait in order of arrival, without a thread or a process of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from plait.kernel.errors import Unavailable

from .program import Program
from .worker import Answer, Worker

MAX_WORKERS = 10


class Pool:
    """Runs scripts for one event loop. Costs nothing until the first one; `stop` leaves no process behind."""

    def __init__(self, program: Program, size: int = MAX_WORKERS) -> None:
        self._program = program
        self._size = size
        self._slots = asyncio.Semaphore(size)
        self._idle: deque[Worker] = deque()
        """The longest idle first: after an answer, a worker needs a moment to prepare for its next request."""
        self._workers: set[Worker] = set()
        # One thread, which lives as long as the pool: workers die with the thread that started them.
        self._threads = ThreadPoolExecutor(1, f"plait-{program.code}")
        self._used = False
        self._stopped = False

    async def __aenter__(self) -> Pool:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def ask(self, request: bytes, seconds: float) -> Answer:
        """Sends a request to a free worker. Raises `OutOfTime` or `Died`."""
        async with self._slots:
            worker = await self._take()
            try:
                return await worker.ask(request, seconds)
            finally:
                self._give_back(worker)

    async def stop(self) -> None:
        """Kills all workers, whatever they are doing, and waits until they are gone."""
        self._stopped = True
        self._idle.clear()
        if not self._used:  # a simulation must not wait in real time
            return
        for worker in self._workers:
            worker.kill()
        await self._all_given_back()
        await asyncio.to_thread(self._threads.shutdown)

    @property
    def pids(self) -> frozenset[int]:
        """The processes that are running now."""
        return frozenset(worker.pid for worker in self._workers)

    async def _all_given_back(self) -> None:
        """Includes the workers that are still starting: holding all slots proves that no worker is in use."""
        async with contextlib.AsyncExitStack() as slots:
            for _ in range(self._size):
                await slots.enter_async_context(self._slots)

    async def _take(self) -> Worker:
        while self._idle:
            worker = self._idle.popleft()
            if worker.usable:
                return worker
            self._drop(worker)
        self._refuse_if_stopped()
        self._used = True
        worker = await Worker.start(self._program, self._threads)
        self._workers.add(worker)
        if self._stopped:
            self._drop(worker)
        self._refuse_if_stopped()
        return worker

    def _give_back(self, worker: Worker) -> None:
        if worker.usable and not self._stopped:
            self._idle.append(worker)
        else:
            self._drop(worker)

    def _drop(self, worker: Worker) -> None:
        self._workers.discard(worker)
        worker.kill()

    def _refuse_if_stopped(self) -> None:
        if self._stopped:
            what = f"{self._program.language} scripts can't run"
            raise Unavailable(f"{self._program.code}.stopped", what, why="the engine is stopping", fix="start it again")
