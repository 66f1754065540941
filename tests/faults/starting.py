"""Starting runs on a database that is away for moments: what was acknowledged is there, and ends right."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from plait import Engine, Handle
from plait.errors import Unavailable

T = TypeVar("T")

_PATIENCE = 30.0
"""Seconds for an operation, with all that it is tried again for."""
_PAUSE = 0.02


class Load:
    """A few callers who start runs one after the other. An operation that is refused because the database is away is
    asked for again, as the error says; the same start again is the same run."""

    def __init__(self, engine: Engine, definition: Any, callers: int = 4) -> None:
        self._engine = engine
        self._definition = definition
        self._callers = callers
        self._stopped = asyncio.Event()
        self._came = asyncio.Event()
        self._next = 0
        self.acknowledged: dict[int, Handle[int]] = {}
        self.outputs: dict[int, int] = {}
        self.operations = 0
        self.failed = 0
        self.refused = 0
        """Tries."""

    async def run(self) -> None:
        """Until it is stopped and all runs have ended."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._callers):
                group.create_task(self._call(group))

    def stop(self) -> None:
        self._stopped.set()

    async def until_started(self, more: int) -> None:
        """That many more runs are acknowledged."""
        wanted = len(self.acknowledged) + more
        while len(self.acknowledged) < wanted:
            self._came.clear()
            await self._came.wait()

    async def _call(self, group: asyncio.TaskGroup) -> None:
        while not self._stopped.is_set():
            number, self._next = self._next, self._next + 1
            handle = await self._tried(lambda n=number: self._engine.start(self._definition, n, id=f"run-{n}"))
            if handle is not None:
                self.acknowledged[number] = handle
                self._came.set()
                group.create_task(self._take_result(number, handle))
            await asyncio.sleep(_PAUSE)

    async def _take_result(self, number: int, handle: Handle[int]) -> None:
        if (output := await self._tried(handle.result)) is not None:
            self.outputs[number] = output

    async def _tried(self, operation: Callable[[], Awaitable[T]]) -> T | None:
        self.operations += 1
        try:
            async with asyncio.timeout(_PATIENCE):
                while True:
                    try:
                        return await operation()
                    except Unavailable:
                        self.refused += 1
                        await asyncio.sleep(_PAUSE)
        except TimeoutError:
            self.failed += 1
            return None

    @property
    def succeeded(self) -> float:
        """Percent."""
        return 100 * (1 - self.failed / self.operations)
