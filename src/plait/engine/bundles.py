"""The dialects of an engine, and their lifecycle. One that nothing has requested yet is not even imported.

A program can only hold a definition of a dialect whose package it has imported; a stored run, a child or a request
names the dialect. So an imported package or a name makes a dialect load. In an open engine it works at once and is
opened in the background: an engine also takes up runs before its dialects are open.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass

from plait.kernel.bundle import Bundle
from plait.kernel.task import Executor

log = logging.getLogger("plait.engine")


@dataclass(frozen=True, slots=True)
class LazyBundle:
    """A dialect that is created on demand."""

    name: str
    package: str
    make: Callable[[], Bundle]


class Bundles(dict[str, Bundle]):
    """Dialects by name. Iteration covers loaded ones; looking one up loads it."""

    def __init__(self, add_executor: Callable[[Executor], None], *, working: bool) -> None:
        super().__init__()
        self._add_executor = add_executor
        self._working = working
        self._lazy: dict[str, LazyBundle] = {}
        self._order: dict[str, int] = {}
        """The order in which they were added, whichever is loaded first."""
        self._opening: list[asyncio.Task[None]] | None = None
        """Tasks opening dialects that were loaded after the engine opened; None while it is closed."""

    # -- loading -------------------------------------------------------------------------------------------------

    def add(self, dialect: Bundle | LazyBundle) -> None:
        """Adds a dialect; it replaces one of the same name."""
        self._order.setdefault(dialect.name, len(self._order))
        if isinstance(dialect, LazyBundle):
            self._lazy[dialect.name] = dialect
            return
        self._lazy.pop(dialect.name, None)
        self[dialect.name] = dialect
        for executor in dialect.executors:
            self._add_executor(executor)
        if self._opening is not None:
            self._opening.append(asyncio.get_running_loop().create_task(self._open_late(dialect)))

    def __missing__(self, name: str) -> Bundle:
        if name not in self._lazy:
            raise KeyError(name)
        self.add(self._lazy[name].make())
        return self[name]

    def load_imported(self) -> list[Bundle]:
        """Loads dialects whose packages the program has imported; returns the new ones."""
        return [self[lazy.name] for lazy in list(self._lazy.values()) if lazy.package in sys.modules]

    @property
    def names(self) -> Collection[str]:
        """Names of all dialects, loaded or not."""
        return self._order.keys()

    def load_all(self) -> None:
        for name in list(self._lazy):
            _ = self[name]
        for name in sorted(self, key=self._order.__getitem__):
            self[name] = self.pop(name)

    # -- life ----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        loaded, self._opening = list(self.values()), []
        for bundle in loaded:
            await bundle.open(working=self._working)

    async def _open_late(self, bundle: Bundle) -> None:
        try:
            await bundle.open(working=self._working)
        except Exception:
            log.exception("the dialect `%s` could not be opened", bundle.name)

    async def drain(self) -> None:
        """Stops all writes; the engine is about to close."""
        await self._stop_opening()
        for bundle in list(self.values()):
            await bundle.drain()

    async def close(self) -> None:
        await self._stop_opening()
        for bundle in list(self.values()):
            await bundle.close()

    async def _stop_opening(self) -> None:
        opening, self._opening = self._opening or [], None
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
