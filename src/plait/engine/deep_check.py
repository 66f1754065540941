"""Checks everything a store holds: the database's files, its streams, and every run with its whole log.

It reads page by page while engines work, so a log may grow meanwhile; what was there is checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import msgspec

from plait.kernel.errors import DAMAGED, Damaged, PlaitError
from plait.kernel.ids import RunId, caller_id
from plait.kernel.loader import recorded
from plait.kernel.store import RunFilter, RunRow, Store

from .stream_check import damaged_streams

_RUNS = 200
_EVENTS = 1_000
_ENDS = {"run.completed": "completed", "run.failed": "failed", "run.cancelled": "cancelled", "run.reopened": "running"}


@dataclass(slots=True)
class DeepCheck:
    """Counts what it has read; `findings` yields defects as they are found."""

    store: Store
    runs: int = 0
    events: int = 0

    async def findings(self) -> AsyncIterator[PlaitError]:
        for line in await self.store.integrity():
            yield Damaged("the database is damaged", line)
        async for error in damaged_streams(self.store):
            yield error
        after = None
        while True:
            page = await self.store.runs(RunFilter(after=after, limit=_RUNS))
            for row in page:
                self.runs += 1
                try:
                    await self._examine(row)
                except PlaitError as error:
                    if not await self._is_gone(row.id):
                        yield error
            if len(page) < _RUNS:
                return
            after = (page[-1].created_at, page[-1].id)

    async def _examine(self, row: RunRow) -> None:
        if row.blocked is not None and row.blocked.code == DAMAGED:
            await self.store.run(row.id)  # raises if its row is damaged; otherwise its log may be
        if row.output is not None:
            _check_json(row.output, f"the row of run {caller_id(row.id)}")
        snapshot = await self.store.snapshot(row.id)  # read first: a later one could cover events that were not read
        status, last = await self._walk(row.id)
        if snapshot is not None:
            _check_json(snapshot.body, f"the snapshot of run {caller_id(row.id)}")
        missing = snapshot is not None and snapshot.seq > last
        if missing or status != row.status:
            now = await self.store.run(row.id)
            if missing or (now is not None and now.status == row.status):  # else it has changed meanwhile
                raise Damaged(
                    f"the log of run {caller_id(row.id)} is damaged", f"its last events are missing: it ends at {last}"
                )

    async def _is_gone(self, run_id: RunId) -> bool:
        """Whether the run was removed during the check, as retention does."""
        try:
            return await self.store.run(run_id) is None
        except PlaitError:
            return False

    async def _walk(self, run_id: RunId) -> tuple[str, int]:
        """The status according to its events, and the number of the last one."""
        status, last = "running", 0
        while page := await recorded(self.store, run_id, last, _EVENTS):
            for event in page:
                status = _ENDS.get(event.type, status)
            self.events += len(page)
            last = page[-1].seq
        return status, last


def _check_json(body: bytes | msgspec.Raw, what: str) -> None:
    try:
        msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise Damaged(f"{what} is damaged", str(error)) from error
