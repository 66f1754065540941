"""Runs code in the workers of one pool. It costs nothing until the first run; `stop` leaves no process behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from plait.extras import extra
from plait.kernel.errors import Unavailable
from plait.kernel.values import Json

from .cage import Cage
from .errors import PythonError
from .limits import DEFAULT, PythonLimits

if TYPE_CHECKING:
    from pydantic_monty import Monty

    from .run import Run

MAX_WORKERS: Final = 4
_MAX_RUNS: Final = 10_000
"""Runs after which a worker is replaced, so that leaks can't accumulate."""
_GRACE: Final = 0.05
"""Seconds for the interpreter to stop by itself after its time; then the worker is killed."""


def _nobody(line: str) -> None:
    """Discards printed lines."""


class PythonSandbox:
    """Runs beyond the number of workers wait in order of arrival.

    Uses one thread per worker: the asynchronous pool of the same library makes Python abort at exit.
    """

    def __init__(self, size: int = MAX_WORKERS) -> None:
        self._size = size
        self._threads = ThreadPoolExecutor(size, "plait-python")
        self._starting = Lock()
        self._pool: Monty | None = None
        self._cage = Cage()
        self._runs: set[Run] = set()
        self._stopped = False

    async def __aenter__(self) -> PythonSandbox:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def run(
        self,
        code: str,
        arguments: Mapping[str, Json],
        limits: PythonLimits = DEFAULT,
        printed: Callable[[str], None] = _nobody,
    ) -> Any:
        """The value of the last expression. `printed` is called from another thread. Raises a `PythonError`.

        A worker may have died because of another run, so the code gets a second one.
        """
        try:
            return await self._run(code, arguments, limits, printed)
        except PythonError as error:
            if error.kind != "crashed":
                raise
        return await self._run(code, arguments, limits, printed)

    async def stop(self) -> None:
        """Kills all workers, whatever they are doing, and waits until they are gone."""
        self._stopped = True
        for run in self._runs:
            run.end()
        if self._pool is None:
            self._threads.shutdown(wait=False)  # nothing is in flight: a simulation must not wait in real time
        else:
            await asyncio.to_thread(self._shut_down, self._pool)

    @property
    def pids(self) -> frozenset[int]:
        """The processes that ran something."""
        return self._cage.pids

    def _shut_down(self, pool: Monty) -> None:
        self._threads.shutdown()
        pool.__exit__(None, None, None)

    async def _run(
        self, code: str, arguments: Mapping[str, Json], limits: PythonLimits, printed: Callable[[str], None]
    ) -> Any:
        if self._stopped:
            raise Unavailable("python.stopped", "Python can't run", why="the engine is stopping", fix="start it again")
        with extra("scripts", "Python in a sandbox"):
            from .run import Run  # only with the first run
        run = Run(code, arguments, limits, printed)
        self._runs.add(run)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._work, run)
        except asyncio.CancelledError:
            run.end()
            raise
        finally:
            self._runs.discard(run)

    def _work(self, run: Run) -> Any:
        return run.work(self._started(), self._cage)

    def _started(self) -> Monty:
        with self._starting:
            if self._pool is None:
                self._pool = self._new()
            return self._pool

    def _new(self) -> Monty:
        from pydantic_monty import Monty

        try:
            return Monty(
                max_processes=self._size,
                max_checkouts_per_worker=_MAX_RUNS,
                feed_duration_limit_grace=_GRACE,
                turn_duration_limit_grace=_GRACE,
            ).__enter__()
        except OSError as error:
            raise PythonError("unavailable", f"there is no interpreter for the sandbox: {error}") from None
