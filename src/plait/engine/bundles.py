"""The dialects of an engine, and their life. One that nothing has asked for yet is not even imported.

A program can only hold a definition of a dialect whose package it has imported; a stored run, a child, a request name
the dialect. So these two, an imported package and a name, are what makes a dialect load. In an engine that is open it
works at once, and is opened beside that: an engine takes up runs before its dialects are open, too.
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
    """A dialect that is made when something asks for it."""

    name: str
    package: str
    make: Callable[[], Bundle]


class Bundles(dict[str, Bundle]):
    """By name. Its items are those that are loaded; to look one up loads it."""

    def __init__(self, add_executor: Callable[[Executor], None], *, working: bool) -> None:
        super().__init__()
        self._add_executor = add_executor
        self._working = working
        self._lazy: dict[str, LazyBundle] = {}
        self._order: dict[str, int] = {}
        """In which they were added, whichever is loaded first."""
        self._opening: list[asyncio.Task[None]] | None = None
        """Of those that were loaded since the engine is open; None while it is not."""

    # -- loading -------------------------------------------------------------------------------------------------

    def add(self, dialect: Bundle | LazyBundle) -> None:
        """One of the same name takes the place of another."""
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
        """Loads those that a program may have definitions of; returns what is new."""
        return [self[lazy.name] for lazy in list(self._lazy.values()) if lazy.package in sys.modules]

    @property
    def names(self) -> Collection[str]:
        """Of all of them, loaded or not."""
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
        """Writes nothing any more; the engine is about to close."""
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
