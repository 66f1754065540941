"""Draining versions: no new run starts on them, existing ones continue.

Children are started all the same: they belong to runs in progress. A drain takes effect on all engines within a second,
because each polls the store that often.
"""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec import Raw

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import Conflict, InvalidInput
from plait.kernel.records import Records
from plait.kernel.store import Record, RunFilter, Store

KIND = "drain"
EVERYWHERE = "*"
"""The namespace of the records: code is the same in all."""
_FRESH = 1.0
"""Seconds for which an engine caches the list."""
_PAGE = 1_000


class Drains:
    def __init__(self, store: Store, records: Records, clock: Clock) -> None:
        self._store = store
        self._records = records
        self._clock = clock
        self._known: frozenset[str] = frozenset()
        self._read_at = -_FRESH
        self._turn = asyncio.Lock()

    async def refusal(self, definition: str, version: str) -> Conflict | None:
        """The refusal of a new run, if its version is being drained."""
        if self._is_stale():
            async with self._turn:
                if self._is_stale():
                    self._known, self._read_at = frozenset(await self.list()), self._clock.monotonic()
        if f"{definition}@{version}" not in self._known:
            return None
        return Conflict(
            "engine.version_drained",
            f"no new run starts on {definition}@{version}",
            why="this version is being drained",
            fix=f"start another version, or allow it again: plait drain --version {definition}@{version} --undo",
        )

    def _is_stale(self) -> bool:
        return self._clock.monotonic() - self._read_at >= _FRESH

    async def list(self) -> list[str]:
        """The draining versions as `name@version`."""
        found: list[str] = []
        while page := await self._records.list(KIND, EVERYWHERE, after=found[-1] if found else None, limit=_PAGE):
            found += [record.id for record in page]
        return found

    async def begin(self, label: str) -> None:
        _parts(label)
        body: dict[str, Any] = {}
        await self._records.put(Record(KIND, EVERYWHERE, label, Raw(values.encode(body)), self._clock.now()))

    async def undo(self, label: str) -> bool:
        """Ends a drain; False if there was none."""
        _parts(label)
        return await self._records.remove(KIND, EVERYWHERE, label)

    async def left(self, label: str) -> int:
        """How many runs on that version have not ended, in all namespaces."""
        name, version = _parts(label)
        count, query = 0, RunFilter(definition=name, status="running", limit=_PAGE)
        while rows := await self._store.runs(query):
            count += sum(row.version == version for row in rows)
            query = RunFilter(definition=name, status="running", limit=_PAGE, after=(rows[-1].created_at, rows[-1].id))
        return count


def _parts(label: str) -> tuple[str, str]:
    name, _, version = label.rpartition("@")
    if not name or not version:
        raise InvalidInput("engine.no_version", f"`{label}` names no version", fix="write name@version, as order@v1")
    return name, version
