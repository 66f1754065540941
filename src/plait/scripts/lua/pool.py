"""The workers that run Lua scripts: made when they are needed, used again, killed and replaced when they misbehave.

Scripts beyond the number of workers wait in the order in which they came, without a thread or a process of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from plait.kernel.errors import Unavailable
from plait.kernel.values import Json

from .answer import value_of
from .limits import DEFAULT, LuaLimits
from .outcome import LuaOutcome
from .request import Request, to_compile, to_run
from .worker import Worker

MAX_WORKERS = 10


class LuaPool:
    """Runs scripts for one event loop. Costs nothing until the first one; `stop` leaves no process behind."""

    def __init__(self, size: int = MAX_WORKERS) -> None:
        self._size = size
        self._slots = asyncio.Semaphore(size)
        self._idle: list[Worker] = []
        self._workers: set[Worker] = set()
        # One thread, which lives as long as the pool: workers die with the thread that started them.
        self._threads = ThreadPoolExecutor(1, "plait-lua")
        self._used = False
        self._stopped = False

    async def __aenter__(self) -> LuaPool:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def run(
        self,
        script: str,
        arguments: Mapping[str, Json],
        names: Iterable[str],
        token: str,
        limits: LuaLimits = DEFAULT,
    ) -> LuaOutcome:
        """Runs a script with its arguments; `token` decides its random numbers. Raises a `LuaError` if it fails."""
        return await self._ask(to_run(script, arguments, names, token, limits, result=limits.result))

    async def holds(
        self,
        script: str,
        arguments: Mapping[str, Json],
        names: Iterable[str],
        token: str,
        limits: LuaLimits = DEFAULT,
    ) -> LuaOutcome:
        """Runs a script as a predicate: its value is false for nil and false, true for all else, `null` too."""
        return await self._ask(to_run(script, arguments, names, token, limits, result=0))

    async def compile(self, script: str, names: Iterable[str]) -> None:
        """Raises a `LuaCompileError` if the script can't be run. Runs nothing of it."""
        await self._ask(to_compile(script, names))

    async def stop(self) -> None:
        """Kills all workers, whatever they do, and waits until they are gone."""
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
        """The processes that run now."""
        return frozenset(worker.pid for worker in self._workers)

    async def _ask(self, request: Request) -> LuaOutcome:
        async with self._slots:
            worker = await self._take()
            try:
                answer = await worker.ask(request)
                printed = worker.printed
            finally:
                self._give_back(worker)
        return LuaOutcome(value_of(answer, printed), printed)

    async def _all_given_back(self) -> None:
        """Also the workers that are still starting: who has all slots knows that nobody has a worker."""
        async with contextlib.AsyncExitStack() as slots:
            for _ in range(self._size):
                await slots.enter_async_context(self._slots)

    async def _take(self) -> Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.usable:
                return worker
            self._drop(worker)
        self._refuse_if_stopped()
        self._used = True
        worker = await Worker.start(self._threads)
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
            raise Unavailable(
                "lua.stopped", "Lua scripts can't run", why="the engine is stopping", fix="start it again"
            )
