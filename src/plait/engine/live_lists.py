"""Live lists of runs: the first page of a filter, then its changes.

Each commit of this process names the runs it changed, and they are matched against the filter here: the page is read
again, by its index, only if one of them is on it or belongs there, or if another process wrote something. Watchers of
the same filter share one board, so that five hundred open pages cost one query. Each watcher has its own position in
the board's recent changes; one that falls too far behind gets the whole page again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass

import msgspec

from plait.kernel.ids import RunId
from plait.kernel.kernel import Kernel
from plait.kernel.run_matching import matches
from plait.kernel.store import RunFilter, RunRow
from plait.kernel.subscriptions import Bell

from .run_list import listed

PAUSE = 0.25
"""Seconds between two reads of the store, however much happens."""
_REMEMBERED = 64
_NOWHERE = (0, "")


@dataclass(frozen=True, slots=True, eq=False)
class RunChanges:
    snapshot: bool
    """`runs` is the whole page; otherwise only new and changed runs."""
    runs: list[RunRow]
    gone: list[RunId]


class Boards:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._boards: dict[bytes, Board] = {}

    async def follow(self, query: RunFilter) -> AsyncIterator[RunChanges]:
        """Yields the changes until the engine is closed."""
        key = msgspec.json.encode(query)
        board = self._boards.get(key)
        if board is None:
            board = self._boards[key] = Board(self._kernel, query)
        board.watchers += 1
        try:
            async for changes in board.follow():
                yield changes
        finally:
            board.watchers -= 1
            if not board.watchers and self._boards.get(key) is board:
                del self._boards[key]
                board.close()


class Board:
    def __init__(self, kernel: Kernel, query: RunFilter) -> None:
        self.watchers = 0
        self._kernel = kernel
        self._query = query
        self._page: dict[RunId, RunRow] = {}
        self._last: tuple[int, str] = _NOWHERE
        """Position of the page's oldest run."""
        self._version = 0
        self._recent: deque[tuple[int, RunChanges]] = deque(maxlen=_REMEMBERED)
        self._turned = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    def close(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()

    async def follow(self) -> AsyncIterator[RunChanges]:
        if self._keeper is None:
            self._page = await self._read()
            self._keeper = self._keeper or asyncio.get_running_loop().create_task(self._keep(), name="plait.board")
        seen = self._version
        yield RunChanges(True, list(self._page.values()), [])
        while True:
            turned = self._turned
            missed = [changes for version, changes in self._recent if version > seen]
            if len(missed) < self._version - seen:
                missed = [RunChanges(True, list(self._page.values()), [])]
            seen = self._version
            for changes in missed:
                yield changes
            if seen == self._version:
                if self._keeper.done():
                    self._keeper.result()
                    return
                await turned.wait()

    async def _keep(self) -> None:
        try:
            with self._kernel.subscriptions.runs() as bell:
                while not self._kernel.closed:
                    changed = bell.take()
                    if changed is None or any(map(self._concerns, changed)):
                        await self._look()
                    await self._pause()
                    await bell.wait()
        except Exception:
            if not self._kernel.closed:  # a read interrupted by the close ends the list without an error
                raise
        finally:
            self._turned.set()

    def _concerns(self, row: RunRow) -> bool:
        """Whether the run is on the page or belongs there."""
        if row.id in self._page:
            return True
        full = len(self._page) >= self._query.limit
        return (not full or (row.created_at, row.id) > self._last) and matches(self._query, row)

    async def _look(self) -> None:
        page = await self._read()
        changed = [row for run_id, row in page.items() if self._page.get(run_id) != row]
        gone = [run_id for run_id in self._page if run_id not in page]
        self._page = page
        self._last = min(((row.created_at, row.id) for row in page.values()), default=_NOWHERE)
        if changed or gone:
            self._version += 1
            self._recent.append((self._version, RunChanges(False, changed, gone)))
            turned, self._turned = self._turned, Bell()
            turned.set()

    async def _read(self) -> dict[RunId, RunRow]:
        return {row.id: row for row in await listed(self._kernel, self._query)}

    async def _pause(self) -> None:
        woken = asyncio.Event()
        self._kernel.clock.call_later(PAUSE, woken.set)
        await woken.wait()
