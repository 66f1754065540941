"""A look at everything a store holds: what the database says of its files, and every run with its whole log.

It reads page by page, beside whoever works, so a log may grow meanwhile; what was there is checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import msgspec

from plait.kernel.errors import DAMAGED, Damaged, PlaitError
from plait.kernel.ids import RunId, caller_id
from plait.kernel.loader import recorded
from plait.kernel.store import RunFilter, RunRow, Store

_RUNS = 200
_EVENTS = 1_000
_ENDS = {"run.completed": "completed", "run.failed": "failed", "run.cancelled": "cancelled", "run.reopened": "running"}


@dataclass(slots=True)
class DeepCheck:
    """Counts what it has read; `findings` yields what is wrong, as it comes upon it."""

    store: Store
    runs: int = 0
    events: int = 0

    async def findings(self) -> AsyncIterator[PlaitError]:
        for line in await self.store.integrity():
            yield Damaged("the database is damaged", line)
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
            await self.store.run(row.id)  # says so if it is its row; its log may be what is damaged
        if row.output is not None:
            _check_json(row.output, f"the row of run {caller_id(row.id)}")
        snapshot = await self.store.snapshot(row.id)  # first: one that is made meanwhile has events that were not read
        status, last = await self._walk(row.id)
        if snapshot is not None:
            _check_json(snapshot.body, f"the snapshot of run {caller_id(row.id)}")
        missing = snapshot is not None and snapshot.seq > last
        if missing or status != row.status:
            now = await self.store.run(row.id)
            if missing or (now is not None and now.status == row.status):  # else it has moved meanwhile
                raise Damaged(
                    f"the log of run {caller_id(row.id)} is damaged", f"its last events are missing: it ends at {last}"
                )

    async def _is_gone(self, run_id: RunId) -> bool:
        """Whether it was removed while it was read, as retention does."""
        try:
            return await self.store.run(run_id) is None
        except PlaitError:
            return False

    async def _walk(self, run_id: RunId) -> tuple[str, int]:
        """The status that its events say, and the number of the last."""
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
