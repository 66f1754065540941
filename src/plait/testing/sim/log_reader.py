"""The logs of all runs as stored: events read since the last commit are not read again."""

from __future__ import annotations

from plait.kernel.events import Recorded
from plait.kernel.ids import RunId, Seq
from plait.kernel.loader import recorded
from plait.kernel.store import RunFilter
from plait.stores.memory import MemoryStore
from plait.testing.history import History


class LogReader:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._recorded: dict[RunId, list[Recorded]] = {}
        self._seen: dict[RunId, tuple[int, list[bytes]]] = {}
        """Rows up to some event; rows compacted later still serve to look for what was written once."""

    def changed(self) -> None:
        """A commit was attempted."""
        self._recorded.clear()

    async def events(self, run_id: RunId) -> History:
        if run_id not in self._recorded:
            self._recorded[run_id] = await recorded(self._store, run_id)
        return History(self._recorded[run_id])

    async def all(self) -> dict[str, list[Recorded]]:
        rows = await self._store.runs(RunFilter(limit=1000))
        return {row.id: (await self.events(row.id)).events for row in rows}

    async def has(self, run_id: RunId, part: bytes) -> bool:
        """Whether something was written to a log."""
        last, seen = self._seen.get(run_id, (0, []))
        for row in await self._store.log(run_id, Seq(last)):
            seen.append(row.events)
            last = row.seq + row.count - 1
        self._seen[run_id] = last, seen
        return any(part in events for events in seen)
